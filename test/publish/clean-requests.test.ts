import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suiteOf } from './publishing.ts';
import { Repository } from './repository.ts';

const day = 24 * 3_600_000;

/** A suite that has un-listed so many files and has its pool cleaned by its next publish, with so many other suites beside it. */
async function cleaning(suites: number, removed: number, days = 8) {
  using repository = new Repository();
  const { debs } = repository;
  const names = Array.from({ length: suites }, (_, index) => `suite-${index}`);
  const versions = ['1', '2', '3'].map((version) =>
    debs.add(`other-${version}`, { Package: 'other', Version: version }),
  );
  for (const version of versions) {
    const all = names.map((suite) => suiteOf(suite, version));
    await repository.publish(all, {}, 'unsigned');
  }
  const goes = Array.from({ length: removed }, (_, index) => debs.add(`gone-${index}`, { Package: `gone${index}` }));
  await repository.publish([suiteOf('sid', ...goes, debs.add('stays', { Package: 'stays' }))], {}, 'unsigned');
  await repository.remove('sid', ['gone*'], {}, 'unsigned');
  await repository.publish([suiteOf('sid', debs.add('a1', { Package: 'a1' }))], {}, 'unsigned');
  await repository.publish([suiteOf('sid', debs.add('b1', { Package: 'b1' }))], {}, 'unsigned');
  await repository.clock.sleep(days * day);
  const { recorder, requests } = await repository.publish(
    [suiteOf('sid', debs.add('c1', { Package: 'c1' }))],
    {},
    'unsigned',
  );
  const phases = new Map(recorder.phases.map(({ id, name }) => [id, name]));
  const cleaned = requests.filter(({ phase }) => phases.get(phase) === 'clean');
  const of = (object: string) => cleaned.filter((request) => request.object === object).length;
  const left = (await repository.keys('pool/main/g/')).length;
  return { all: cleaned.length, records: of('record'), indexes: of('by-hash'), left };
}

test('removing one file reads no index of the suites that never had it, and few records in all', async (t) => {
  const few = await cleaning(10, 1);
  t.diagnostic(`10 suites, 1 file: ${JSON.stringify(few)}`);
  assert.equal(few.left, 0);
  const many = await cleaning(200, 1);
  t.diagnostic(`200 suites, 1 file: ${JSON.stringify(many)}`);
  assert.ok(many.all <= few.all, 'it waits for others');
  assert.equal(many.left, 1);
});

test('with 200 suites files are removed together, at a cost that is bounded for each of them', async (t) => {
  const one = await cleaning(10, 1);
  const many = await cleaning(200, 13);
  t.diagnostic(`200 suites, 13 files: ${JSON.stringify(many)}`);
  assert.equal(many.left, 0);
  assert.ok(many.all <= 13 * one.all, `${many.all} requests for 13 files, ${one.all} for one beside 10 suites`);
  assert.ok(many.indexes <= 13 * one.indexes);
});

test('no file waits for others longer than a month past its grace', async () => {
  const { left } = await cleaning(200, 1, 38);
  assert.equal(left, 0);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suiteOf } from './publishing.ts';
import { Repository } from './repository.ts';

const day = 24 * 3_600_000;
const file = 'pool/main/h/hello/hello_1.0_amd64.deb';

/** What it costs to remove one file that one suite has un-listed, with so many others beside it. */
async function cleaning(suites: number) {
  using repository = new Repository();
  const { debs } = repository;
  const names = Array.from({ length: suites }, (_, index) => `suite-${index}`);
  const versions = ['1', '2', '3'].map((version) =>
    debs.add(`other-${version}`, { Package: 'other', Version: version }),
  );
  for (const version of versions) {
    for (let at = 0; at < suites; at += 20) {
      await repository.publish(
        names.slice(at, at + 20).map((suite) => suiteOf(suite, version)),
        {},
        'unsigned',
      );
    }
  }
  await repository.publish([suiteOf('sid', debs.add('hello'))], {}, 'unsigned');
  const replaced = debs.add('again', {}, { 'usr/bin/hello': 'other' });
  await repository.publish([suiteOf('sid', replaced)], { onConflict: 'replace' }, 'unsigned');
  await repository.publish([suiteOf('sid', debs.add('a1', { Package: 'a1' }))], {}, 'unsigned');
  await repository.publish([suiteOf('sid', debs.add('b1', { Package: 'b1' }))], {}, 'unsigned');
  await repository.clock.sleep(8 * day);
  assert.ok((await repository.keys()).includes(file));
  const { recorder, requests } = await repository.publish(
    [suiteOf('sid', debs.add('c1', { Package: 'c1' }))],
    {},
    'unsigned',
  );
  assert.ok(!(await repository.keys()).includes(file));
  const phases = new Map(recorder.phases.map(({ id, name }) => [id, name]));
  const cleaned = requests.filter(({ phase }) => phases.get(phase) === 'clean');
  const bytes = cleaned.reduce((sum, { bytesDown }) => sum + bytesDown, 0);
  const of = (object: string) => cleaned.filter((request) => request.object === object).length;
  return { all: cleaned.length, records: of('record'), indexes: of('by-hash'), bytes };
}

test('removing a file costs a look at the record of every suite, and reads no index of those that never had it', async (t) => {
  const few = await cleaning(10);
  const many = await cleaning(200);
  t.diagnostic(`10 suites: ${JSON.stringify(few)}; 200 suites: ${JSON.stringify(many)}`);
  assert.equal(many.indexes, few.indexes);
  assert.equal(many.all - few.all, 190);
});

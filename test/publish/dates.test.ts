import assert from 'node:assert/strict';
import { test } from 'node:test';
import { perform } from '../../src/publish/commands.ts';
import { publishRequest, suiteOf, testRun } from './publishing.ts';
import { Repository } from './repository.ts';

/** What apt forgives by default (apt.conf(5), Acquire::Max-FutureTime), milliseconds. */
const forgiven = 10_000;

test('a suite that is published many times a second has dates that grow and that no client refuses (invariant 9)', async () => {
  using repository = new Repository();
  const { store, clock, debs } = repository;
  const from = clock.now();
  const dates: number[] = [];
  const warnings: string[] = [];
  for (let count = 1; count <= 30; count += 1) {
    const run = testRun(store, clock);
    const packages = debs.add(`tool-${count}`, { Package: `tool${count}` });
    await perform(run, publishRequest([suiteOf('sid', packages)]));
    const date = Date.parse(/^Date: (.*)$/m.exec(await repository.text('dists/sid/Release'))?.[1] ?? '');
    assert.ok(date - clock.now() < forgiven - 1000, `${date - clock.now()} ms ahead`);
    dates.push(date);
    warnings.push(...run.warnings.filter((sentence) => sentence.includes('once a second')));
  }
  assert.deepEqual(
    dates,
    dates.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(dates).size, 30);
  assert.ok(clock.now() - from < 30_000, 'nobody waits longer than that takes');
  assert.match(warnings[0] ?? '', /^Suite sid is published more often than once a second, .* waited \d\.\d s\.$/);
});

test('a run does not wait for a date that a wrong clock has made', async () => {
  using repository = new Repository();
  const { store, clock, debs } = repository;
  const wrong = testRun(store, clock, { date: clock.now() + 3_600_000 });
  await perform(wrong, publishRequest([suiteOf('sid', debs.add('one'))]));
  const from = clock.now();
  const run = testRun(store, clock);
  await perform(run, publishRequest([suiteOf('sid', debs.add('two', { Package: 'two' }))]));
  assert.ok(clock.now() - from < 10_000);
  assert.match(run.warnings.join(), /lies 3601 s ahead of the clock/);
});

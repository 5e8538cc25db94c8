import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publish } from '../../src/publish/publish.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { listed } from '../../src/store/object-store.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { TestClock } from '../store/clocks.ts';
import { Debs, publishRequest, suiteOf, testRun } from './publishing.ts';

const keys = await fixture('ed25519');

test('a first publish makes a suite', async () => {
  using debs = new Debs();
  const clock = new TestClock();
  const store = new MemoryStore({ clock });
  const run = testRun(store, clock, { keys });
  const [result] = await publish(run, publishRequest([suiteOf('bookworm', debs.add('hello'))]));
  console.log(result);
  for await (const o of listed(store, '')) console.log(o.key, o.size);
  for (const s of run.recorder.spans) if (s.kind === 'request') console.log(s.phase, s.verb, s.object, s.outcome);
  const again = testRun(store, clock, { keys });
  console.log(await publish(again, publishRequest([suiteOf('bookworm', debs.add('hello'))])));
  for (const s of again.recorder.spans) if (s.kind === 'request') console.log(s.phase, s.verb, s.object, s.outcome);
  const third = testRun(store, clock, { keys });
  console.log(await publish(third, publishRequest([suiteOf('bookworm', debs.add('hello2', { Version: '2.0' }))])));
  for (const s of third.recorder.spans) if (s.kind === 'request') console.log(s.phase, s.verb, s.object, s.outcome);
  const head = await store.get('dists/bookworm/InRelease');
  console.log(head.found && Buffer.from(head.body).toString());
  assert.equal(result?.outcome.changed, true);
});

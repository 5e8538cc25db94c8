import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { progressLog } from '../../src/action/log.ts';
import type { Clock } from '../../src/timing/clock.ts';
import { Recorder } from '../../src/timing/recorder.ts';
import type { Outcome, RequestSpan, Verb } from '../../src/timing/span.ts';

/** A recorder whose log goes to `lines`, with a clock and a timer that stand still until `pass` moves them. */
function rig(t: TestContext): { recorder: Recorder; lines: string[]; pass: (ms: number) => void } {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  const clock: Clock = { now: () => now, monotonic: () => now, sleep: async () => {} };
  const lines: string[] = [];
  const recorder = new Recorder(
    clock,
    progressLog(clock, (line) => lines.push(line)),
  );
  const pass = (ms: number) => {
    for (const end = now + ms; now < end; ) {
      now += 100;
      t.mock.timers.tick(100);
    }
  };
  return { recorder, lines, pass };
}

function request(verb: Verb, bytesUp = 0, bytesDown = 0, outcome: Outcome = 'ok'): Omit<RequestSpan, 'kind' | 'phase'> {
  return { verb, object: 'pool', start: 0, end: 1, bytesUp, bytesDown, outcome };
}

/** Something to wait for until the test lets go. */
function gate(): { readonly opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('the log of a run', () => {
  it('has one line for a phase that ends: time, requests by verb, trouble, bytes', async (t) => {
    const { recorder, lines, pass } = rig(t);
    await recorder.phase('stage', 'bookworm', async (scope) => {
      for (let i = 0; i < 3; i += 1) scope.request(request('PUT', 1_000_000));
      scope.request(request('PUT', 500_000, 0, 'throttled'));
      scope.request(request('GET', 0, 1234));
      scope.request(request('HEAD', 0, 0, 'not-found'));
      pass(1200);
    });
    assert.deepEqual(lines, [
      'stage bookworm: 1.2 s, 4 PUT, 1 GET, 1 HEAD, 6 in flight, 1 throttled, 3.5 MB up, 1.2 kB down',
    ]);
  });

  it('tells how many requests of a phase were in flight together', async (t) => {
    const { recorder, lines } = rig(t);
    await recorder.phase('rename', 'bookworm', async (scope) => {
      for (const start of [0, 0, 0, 5]) scope.request({ ...request('COPY'), start, end: start + 5 });
    });
    assert.deepEqual(lines, ['rename bookworm: 0 ms, 4 COPY, 3 in flight']);
  });

  it('says that a phase has failed', async (t) => {
    const { recorder, lines, pass } = rig(t);
    const failing = recorder.phase('claim', undefined, async () => {
      pass(300);
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    assert.deepEqual(lines, ['claim: failed after 300 ms']);
  });

  it('says nothing of a phase before it has lasted two seconds, then how far it is, every two seconds', async (t) => {
    const { recorder, lines, pass } = rig(t);
    await recorder.phase('upload', undefined, async (scope) => {
      scope.expect(40);
      pass(1900);
      assert.deepEqual(lines, []);
      for (let i = 0; i < 10; i += 1) scope.request(request('PUT'));
      pass(100);
      assert.deepEqual(lines, ['upload 10 of 40, 5.0/s, about 6.0 s left']);
      for (let i = 0; i < 10; i += 1) scope.request(request('PUT'));
      pass(1900);
      assert.equal(lines.length, 1);
      pass(100);
      assert.deepEqual(lines.slice(1), ['upload 20 of 40, 5.0/s, about 4.0 s left']);
    });
    assert.equal(lines.length, 3);
  });

  it('speaks while a single request hangs', async (t) => {
    const { recorder, lines, pass } = rig(t);
    await recorder.phase('claim', 'bookworm', async () => pass(4000));
    assert.deepEqual(lines.slice(0, 2), ['claim 0 done after 2.0 s', 'claim 0 done after 4.0 s']);
  });

  it('puts phases that run together into one line, and suites of one phase into one count', async (t) => {
    const { recorder, lines, pass } = rig(t);
    const held = gate();
    const stages = ['bookworm', 'trixie'].map((name) =>
      recorder.phase('stage', name, async (scope) => {
        scope.expect(8);
        for (let i = 0; i < 2; i += 1) scope.request(request('PUT'));
        await held.opened;
      }),
    );
    const upload = recorder.phase('upload', undefined, async () => held.opened);
    pass(2000);
    assert.deepEqual(lines, ['stage 4 of 16, 2.0/s, about 6.0 s left; upload 0 done after 2.0 s']);
    held.open();
    await Promise.all([...stages, upload]);
  });

  it('promises no end while one of the suites does not know how much there is to do', async (t) => {
    const { recorder, lines, pass } = rig(t);
    const held = gate();
    const stages = [5, undefined].map((total) =>
      recorder.phase('stage', String(total), async (scope) => {
        if (total !== undefined) scope.expect(total);
        scope.request(request('PUT'));
        await held.opened;
      }),
    );
    pass(2000);
    assert.deepEqual(lines, ['stage 2 done, 1.0/s']);
    held.open();
    await Promise.all(stages);
  });

  it('stops its timer with the last phase', async (t) => {
    const { recorder, lines, pass } = rig(t);
    await recorder.phase('read', undefined, async () => {});
    pass(10_000);
    assert.deepEqual(lines, ['read: 0 ms']);
  });
});

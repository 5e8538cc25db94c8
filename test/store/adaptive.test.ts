import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConcurrencyController } from '../../src/store/adaptive.ts';

/** What a simulated store does with a request that begins while so many are in flight, itself among them. */
interface Link {
  /** Milliseconds that one request takes. */
  ms(inFlight: number): number;
  /** Whether it is refused. */
  throttles?(inFlight: number): boolean;
}

/** Only the way there and back: however many are in flight, each takes as long. */
const distant: Link = { ms: () => 100 };

/** Carries so many requests in a second, all told; the more are in flight, the longer each takes. */
function narrow(perSecond: number, ms = 50): Link {
  return { ms: (inFlight) => Math.max(ms, (inFlight / perSecond) * 1000) };
}

interface Ending {
  readonly at: number;
  readonly began: number;
  readonly refused: boolean;
}

/** Keeps as many requests in flight as the controller wants, for so long; answers how many were done in each second, and the numbers wanted. */
function drive(controller: ConcurrencyController, link: Link, seconds: number, want = Number.POSITIVE_INFINITY) {
  const inFlight: Ending[] = [];
  const done = Array.from({ length: seconds }, () => 0);
  const wanted: number[] = [];
  let now = 0;
  while (now < seconds * 1000) {
    while (inFlight.length < Math.min(want, controller.concurrency)) {
      controller.started(now);
      const refused = link.throttles?.(inFlight.length + 1) ?? false;
      inFlight.push({ at: now + (refused ? 20 : link.ms(inFlight.length + 1)), began: now, refused });
    }
    inFlight.sort((a, b) => a.at - b.at);
    const next = inFlight.shift();
    if (next === undefined) break;
    now = next.at;
    if (next.refused) {
      controller.ended(now);
      controller.throttled(now);
    } else {
      controller.ended(now, { ms: now - next.began, amount: 1 });
      const second = Math.floor(now / 1000);
      if (second < seconds) done[second] = (done[second] ?? 0) + 1;
    }
    wanted.push(controller.concurrency);
  }
  return { done, wanted };
}

const bounds = { start: 16, floor: 2, ceiling: 128 };

describe('the number of requests in flight', () => {
  test('stays what it was for the first second, whatever the store does with it', () => {
    for (const link of [distant, narrow(50), narrow(1000)]) {
      const controller = new ConcurrencyController(bounds);
      const { wanted } = drive(controller, link, 1);
      assert.deepEqual(new Set(wanted.slice(0, -1)), new Set([16]));
    }
  });

  test('grows to its ceiling while each request more is a request more per second', () => {
    const controller = new ConcurrencyController(bounds);
    const { done } = drive(controller, distant, 30);
    assert.equal(controller.concurrency, 128);
    assert.ok((done.at(-1) ?? 0) > 7 * (done[0] ?? 0), `${done}`);
  });

  test('settles on a link that is full, near to where it is just full', () => {
    const controller = new ConcurrencyController(bounds);
    // Full with 20 in flight: 400 a second of 50 ms each.
    const { done, wanted } = drive(controller, narrow(400), 60);
    const late = wanted.slice(-2000);
    assert.ok(Math.min(...late) >= 16, `${Math.min(...late)} at least`);
    assert.ok(Math.max(...late) <= 40, `${Math.max(...late)} at most`);
    assert.ok((done.at(-2) ?? 0) >= 0.95 * 400, `${done}`);
  });

  test('comes down again when requests do nothing but wait for one another', () => {
    const controller = new ConcurrencyController({ ...bounds, start: 64 });
    let perSecond = 2000;
    const link: Link = { ms: (inFlight) => Math.max(50, (inFlight / perSecond) * 1000) };
    drive(controller, link, 10);
    const before = controller.concurrency;
    // The link now is a hundredth of what it was.
    perSecond = 20;
    drive(controller, link, 600);
    assert.ok(controller.concurrency < before / 2, `${before}, then ${controller.concurrency}`);
  });

  test('is cut by three tenths when the store asks for less, once however many requests are told so', () => {
    const controller = new ConcurrencyController(bounds);
    for (let count = 0; count < 16; count += 1) controller.started(0);
    for (let count = 0; count < 16; count += 1) {
      controller.ended(10 + count);
      controller.throttled(10 + count);
    }
    assert.equal(controller.concurrency, 11);
  });

  test('does not grow for two seconds after that, or for as long as the store has asked', () => {
    for (const [retryAfter, quiet] of [
      [0, 2000],
      [8000, 8000],
    ] as const) {
      const controller = new ConcurrencyController(bounds);
      controller.throttled(0, retryAfter);
      const { wanted } = drive(controller, distant, quiet / 1000);
      assert.deepEqual(new Set(wanted), new Set([11]));
      drive(controller, distant, 30);
      assert.ok(controller.concurrency > 11, `${controller.concurrency}`);
    }
  });

  test('keeps most requests below where a store refuses', () => {
    const controller = new ConcurrencyController(bounds);
    const link: Link = { ms: () => 100, throttles: (inFlight) => inFlight > 40 };
    const { wanted } = drive(controller, link, 120);
    const late = wanted.slice(-5000);
    assert.ok(Math.max(...late) <= 44, `${Math.max(...late)} at most`);
    assert.ok(Math.min(...late) >= 16, `${Math.min(...late)} at least`);
  });

  test('is cut by a tenth for answers that do not come, and never below its floor', () => {
    const controller = new ConcurrencyController(bounds);
    controller.lost();
    assert.equal(controller.concurrency, 14);
    for (let window = 1; window <= 60; window += 1) {
      controller.started(window * 1100 - 1);
      controller.ended(window * 1100);
      controller.throttled(window * 1100);
    }
    assert.equal(controller.concurrency, 2);
  });

  test('learns nothing from times in which few requests were wanted', () => {
    const controller = new ConcurrencyController(bounds);
    drive(controller, distant, 20, 7);
    assert.equal(controller.concurrency, 16);
  });
});

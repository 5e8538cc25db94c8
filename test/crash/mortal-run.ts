import { type ObjectStore, TransientStoreError } from '../../src/store/object-store.ts';
import type { Clock } from '../../src/timing/clock.ts';
import { publishedAt } from '../publish/publishing.ts';
import { idle } from '../race/idle.ts';
import { type Objects, type Operation, storeOver } from '../race/object-model.ts';
import { type Publisher, publishAs } from '../race/publishers.ts';

/**
 * What happens to one request of a run. `before`: the run dies before it is sent. `after`: it takes effect, and the run dies before
 * it hears of it. `lost`: it takes effect, the answer is lost, and the run lives on.
 */
export type Fault = 'before' | 'after' | 'lost';

/** A repository, and the moment at which the next run begins. */
export interface World {
  readonly objects: Objects;
  readonly time: number;
}

export interface Ran extends World {
  /** Every state that the store was in, the first one included. */
  readonly states: readonly Objects[];
  /** What was asked, in order, as `PUT dists/sid/InRelease`. */
  readonly requests: readonly string[];
  readonly warnings: readonly string[];
  /** Absent when the run ended well. */
  readonly error?: unknown;
}

class Dead extends Error {}

/** One run over a copy of a world, in time that passes in sleeps alone; `fault` meets its request number `at`, from 1. */
export async function run(
  world: World,
  publisher: Publisher,
  fault?: { readonly kind: Fault; readonly at: number },
): Promise<Ran> {
  let { objects, time } = world;
  let dead = false;
  const states = [objects];
  const requests: string[] = [];
  const warnings: string[] = [];
  const sleepers: { due: number; wake: () => void }[] = [];
  /** Wakes one sleeper after the other, each when everything else in the run waits too: work takes no time here. */
  const passTime = async () => {
    while (sleepers.length > 0) {
      await idle();
      const next = sleepers.reduce((first, each) => (each.due < first.due ? each : first));
      sleepers.splice(sleepers.indexOf(next), 1);
      time = Math.max(time, next.due);
      next.wake();
    }
  };
  const store: ObjectStore = storeOver(async <Answer>(operation: Operation<Answer>) => {
    if (dead) throw new Dead();
    requests.push(`${operation.verb} ${operation.key}`);
    const hit = requests.length === fault?.at ? fault.kind : undefined;
    if (hit === 'before' || hit === 'after') dead = true;
    if (hit === 'before') throw new Dead();
    const result = operation.apply(objects, time);
    if (result.objects !== objects) states.push(result.objects);
    objects = result.objects;
    if (hit === 'after') throw new Dead();
    if (hit === 'lost') {
      throw new TransientStoreError({ kind: 'connection', ambiguous: true, message: 'The answer was lost.' });
    }
    return result.answer;
  });
  const clock: Clock = {
    now: () => time,
    monotonic: () => time,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.push({ due: time + ms, wake });
        if (sleepers.length === 1) void passTime();
      }),
  };
  const error = await publishAs(publisher, store, clock, (sentence) => warnings.push(sentence)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { objects, time, states, requests, warnings, ...(error === undefined ? {} : { error }) };
}

/** One run after the other, an hour apart; throws what one of them threw. */
export async function history(publishers: readonly Publisher[], apart = 3_600_000): Promise<World> {
  let world: World = { objects: new Map(), time: publishedAt };
  for (const publisher of publishers) {
    const { error, objects, time } = await run(world, publisher);
    if (error !== undefined) throw error;
    world = { objects, time: time + apart };
  }
  return world;
}

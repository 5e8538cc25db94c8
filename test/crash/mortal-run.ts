import { type ObjectStore, TransientStoreError } from '../../src/store/object-store.ts';
import type { Clock } from '../../src/timing/clock.ts';
import { publishedAt } from '../publish/publishing.ts';
import { idle } from '../race/idle.ts';
import { type Objects, type Operation, storeOver } from '../race/object-model.ts';
import { type Publisher, publishAs } from '../race/publishers.ts';

/** What happens to request number `at` of a run, from 1. */
export type Fault = { readonly at: number } & (
  | {
      /**
       * `before`: the run dies before it is sent. `after`: it takes effect, and the run dies before it hears of it. `lost`: it takes effect,
       * the answer is lost, and the run lives on.
       */
      readonly kind: 'before' | 'after' | 'lost';
    }
  | {
      /**
       * The run freezes, `meanwhile` happens, and the run goes on. `under way`: only then the request takes effect, which was sent before.
       * `answered`: it has taken effect, and only then the run hears of it. `dead`: as `under way`, and nobody is there to hear of it.
       */
      readonly kind: 'under way' | 'answered' | 'dead';
      readonly meanwhile: (world: World) => Promise<Ran>;
    }
  | {
      /** The answer has other bytes than were asked for. */
      readonly kind: 'other bytes';
      readonly change: (body: Uint8Array) => Uint8Array;
    }
);

/** A repository, and the moment at which the next run begins. */
export interface World {
  readonly objects: Objects;
  readonly time: number;
}

export interface Ran extends World {
  /** Every state that the store was in, the first one included. */
  readonly states: readonly Objects[];
  /** How many of them were there when a frozen run went on; all of them when none froze. */
  readonly statesUntilThaw: number;
  /** What was asked, in order, as `PUT dists/sid/InRelease`. */
  readonly requests: readonly string[];
  readonly warnings: readonly string[];
  /** Absent when the run ended well. */
  readonly error?: unknown;
}

class Dead extends Error {}

/** One run over a copy of a world, in time that passes in sleeps alone. */
export async function run(world: World, publisher: Publisher, fault?: Fault): Promise<Ran> {
  let { objects, time } = world;
  let dead = false;
  let frozen: Promise<void> | undefined;
  let statesUntilThaw: number | undefined;
  const states = [objects];
  const requests: string[] = [];
  const warnings: string[] = [];
  const sleepers: { due: number; wake: () => void }[] = [];
  /** Wakes one sleeper after the other, each when everything else in the run waits too: work takes no time here. */
  const passTime = async () => {
    while (sleepers.length > 0) {
      await frozen;
      await idle();
      const next = sleepers.reduce((first, each) => (each.due < first.due ? each : first));
      sleepers.splice(sleepers.indexOf(next), 1);
      time = Math.max(time, next.due);
      next.wake();
    }
  };
  const apply = <Answer>(operation: Operation<Answer>): Answer => {
    const result = operation.apply(objects, time);
    if (result.objects !== objects) states.push(result.objects);
    objects = result.objects;
    return result.answer;
  };
  const freeze = async (meanwhile: (world: World) => Promise<Ran>) => {
    frozen = meanwhile({ objects, time }).then((others) => {
      ({ objects, time } = others);
      states.push(...others.states.slice(1));
      statesUntilThaw = states.length;
    });
    await frozen;
    frozen = undefined;
  };
  const store: ObjectStore = storeOver(async <Answer>(operation: Operation<Answer>) => {
    await frozen;
    if (dead) throw new Dead();
    requests.push(`${operation.verb} ${operation.key}`);
    const hit = requests.length === fault?.at ? fault : undefined;
    if (hit?.kind === 'before') {
      dead = true;
      throw new Dead();
    }
    if (hit?.kind === 'under way' || hit?.kind === 'dead') await freeze(hit.meanwhile);
    const answer = apply(operation);
    if (hit?.kind === 'answered') await freeze(hit.meanwhile);
    if (hit?.kind === 'after' || hit?.kind === 'dead') {
      dead = true;
      throw new Dead();
    }
    if (hit?.kind === 'lost') {
      throw new TransientStoreError({ kind: 'connection', ambiguous: true, message: 'The answer was lost.' });
    }
    return hit?.kind === 'other bytes' ? withBody(answer, hit.change) : answer;
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
  const ended = { objects, time, states, statesUntilThaw: statesUntilThaw ?? states.length, requests, warnings };
  return { ...ended, ...(error === undefined ? {} : { error }) };
}

function withBody<Answer>(answer: Answer, change: (body: Uint8Array) => Uint8Array): Answer {
  const hasBody = typeof answer === 'object' && answer !== null && 'body' in answer;
  return hasBody && answer.body instanceof Uint8Array ? { ...answer, body: change(answer.body) } : answer;
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

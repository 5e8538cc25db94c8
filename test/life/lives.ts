import type { Chance } from '../../src/perf/chance.ts';
import { Problem } from '../../src/problem.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { type Fault, run, type World } from '../crash/mortal-run.ts';
import { publishedAt } from '../publish/publishing.ts';
import { idle } from '../race/idle.ts';
import type { Objects } from '../race/object-model.ts';
import { day, hour, race } from '../race/publishers.ts';
import type { Deed } from './deeds.ts';

/** What came of one step. */
export interface Lived {
  readonly world: World;
  /** Every state that the store was in. */
  readonly states: readonly Objects[];
  /** Whether nobody is at work any more, and nobody has died. */
  readonly ended: boolean;
  /** Whether somebody was told that it cannot be done. */
  readonly refused: boolean;
}

/** What a run may be told when the repository is not what it was when the run was thought of. It has changed nothing then. */
const refusals: ReadonlySet<string> = new Set([
  'pattern-fits-nothing',
  'generation-unknown',
  'suite-missing',
  'pool-conflict',
]);

function isRefusal(error: unknown): boolean {
  if (error === undefined) return false;
  if (error instanceof Problem && refusals.has(error.code)) return true;
  throw error;
}

let runs = 0;

/** Somebody who does this: a name of its own for each run. */
function publisher({ request }: Deed, keys: SigningKeys, concurrency: number) {
  runs += 1;
  return { name: `life-${runs}`, request, keys, concurrency };
}

export const beginning: World = { objects: new Map(), time: publishedAt };

/** One run by itself. It may die, or miss an answer, as `fault` says; otherwise it has to end well. */
export async function alone(world: World, deed: Deed, keys: SigningKeys, fault?: Fault): Promise<Lived> {
  const ran = await run(world, publisher(deed, keys, 4), fault);
  const died = fault !== undefined && fault.kind !== 'lost' && ran.requests.length >= fault.at;
  const refused = !died && isRefusal(ran.error);
  return { world: ran, states: ran.states, ended: !died, refused };
}

/** Several runs at once, their requests in an order drawn by chance; each has to end well. */
export async function together(
  world: World,
  deeds: readonly Deed[],
  keys: SigningKeys,
  chance: Chance,
): Promise<Lived> {
  const stepper = race(
    world,
    deeds.map((deed) => publisher(deed, keys, 2)),
  );
  const states: Objects[] = [world.objects];
  await idle();
  for (;;) {
    const steps = stepper.steps(() => false);
    const step = steps[Math.floor(chance() * steps.length)];
    if (step === undefined) break;
    await stepper.take(step);
    if (stepper.objects !== states.at(-1)) states.push(stepper.objects);
  }
  const refused = stepper.processes.filter(({ end }) =>
    isRefusal(end !== undefined && 'error' in end ? end.error : undefined),
  );
  return { world: { objects: stepper.objects, time: stepper.time }, states, ended: true, refused: refused.length > 0 };
}

/** How long until somebody does something again, milliseconds: mostly minutes, now and then as long as a grace period. */
export function pause(chance: Chance): number {
  const draw = chance();
  if (draw < 0.6) return chance() * hour;
  if (draw < 0.9) return chance() * 12 * hour;
  return draw < 0.98 ? chance() * 3 * day : 8 * day;
}

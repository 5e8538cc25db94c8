import { perform } from '../../src/publish/commands.ts';
import type { CommandRequest, PublishRequest } from '../../src/publish/request.ts';
import type { RunContext } from '../../src/publish/run-context.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { limiter } from '../../src/store/limited.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import type { Clock } from '../../src/timing/clock.ts';
import { Recorder } from '../../src/timing/recorder.ts';
import { publishedAt, publishRequest } from '../publish/publishing.ts';
import { idle } from './idle.ts';
import type { Objects, Operation } from './object-model.ts';
import { Stepper, type StepperSettings } from './stepper.ts';

export const hour = 3_600_000;
export const day = 24 * hour;

/** A run that takes part in a race. */
export interface Publisher {
  readonly name: string;
  /** Of a publish, what differs from the ordinary. */
  readonly request:
    | (Pick<PublishRequest, 'suites'> & Partial<PublishRequest>)
    | Exclude<CommandRequest, PublishRequest>;
  /** Requests in flight together. With one, a run is a plain sequence of requests, and all orders of two can be tried. */
  readonly concurrency?: number;
  readonly claimLimit?: number;
  readonly keys?: SigningKeys | undefined;
  /** A store in front of the store: for faults. */
  readonly through?: (store: ObjectStore, clock: Clock) => ObjectStore;
}

/** One run of a publisher. Its `Date` is fixed, so that its bytes depend on what it reads alone. */
export function publishAs(publisher: Publisher, store: ObjectStore, clock: Clock, warn: RunContext['warn'] = () => {}) {
  const { name, request, concurrency = 1, keys, through = (inner) => inner, claimLimit = 60_000 } = publisher;
  const run: RunContext = {
    store: through(store, clock),
    clock,
    random: () => 0.5,
    recorder: new Recorder(clock),
    ...(keys === undefined ? {} : { keys }),
    run: `run-of-${name}`,
    date: publishedAt,
    requests: limiter(concurrency),
    renames: limiter(concurrency),
    claimLimit,
    warn,
  };
  return perform(run, isPublish(request) ? publishRequest(request.suites, request) : request);
}

type Publish = Pick<PublishRequest, 'suites'> & Partial<PublishRequest>;

function isPublish(request: Publisher['request']): request is Publish {
  return request.command === undefined || request.command === 'publish';
}

/** With this, a waiting publisher looks twice while one request of another is on its way; below 250 ms, it does not look at all. */
const patience = 600;
/** Three looks, and the limit of a claim has passed. */
const stretch = 31_000;

/** A run of these publishers over these objects, everybody at the first request. */
export function race(
  from: { readonly objects: Objects; readonly time: number },
  publishers: readonly Publisher[],
  settings: Partial<Omit<StepperSettings, 'objects' | 'time'>> = {},
): Stepper {
  const stepper = new Stepper({ ...from, patience, stretch, thaw: 'any', ...settings });
  for (const publisher of publishers) stepper.add(publisher.name, (store, clock) => publishAs(publisher, store, clock));
  return stepper;
}

/** What is there after these publishers have run one after the other, `apart` milliseconds between them. */
export async function history(
  publishers: readonly Publisher[],
  from: { readonly objects: Objects; readonly time: number } = { objects: new Map(), time: publishedAt },
  apart = hour,
): Promise<{ objects: Objects; time: number }> {
  let { objects, time } = from;
  for (const publisher of publishers) {
    const stepper = race({ objects, time }, [publisher]);
    await runToEnd(stepper);
    ({ objects } = stepper);
    time = stepper.time + apart;
  }
  return { objects, time };
}

/** Takes every step as it comes, until all processes have ended; throws what one of them threw. */
export async function runToEnd(stepper: Stepper): Promise<void> {
  await idle();
  for (let [step] = stepper.steps(never); step !== undefined; [step] = stepper.steps(never)) await stepper.take(step);
  for (const { end } of stepper.processes) {
    if (end !== undefined && 'error' in end) throw end.error;
  }
}

/** Lets one process go on alone until it has made such a request, or to its end. */
export async function takeUntil(
  stepper: Stepper,
  process: number,
  made: (request: Operation<unknown>) => boolean = () => false,
): Promise<void> {
  await idle();
  for (;;) {
    const step = stepper.steps(never).find((each) => each.process === process);
    if (step === undefined) return;
    const request = stepper.requestOf(step);
    await stepper.take(step);
    if (request !== undefined && made(request)) return;
  }
}

const never = () => false;

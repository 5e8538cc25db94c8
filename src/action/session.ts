import { createHash, randomUUID } from 'node:crypto';
import { isDryRun } from '../publish/request.ts';
import type { RunContext } from '../publish/run-context.ts';
import { readSigningKeys, type SigningKeys } from '../signing/keys.ts';
import { preflight } from '../signing/preflight.ts';
import { adaptiveSlots } from '../store/adaptive-slots.ts';
import { Hedging } from '../store/hedged.ts';
import { limiter, type Slots } from '../store/limited.ts';
import type { Clock } from '../timing/clock.ts';
import { Recorder } from '../timing/recorder.ts';
import { progressLog } from './log.ts';
import { openOrigin } from './open-origin.ts';
import { openStore } from './open-store.ts';
import type { Runner } from './runner.ts';
import type { Settings, SigningSettings } from './settings.ts';
import { version } from './version.ts';

/** Requests in flight together in a directory, where there is no link to learn about. */
const inDirectory = 16;
/** Between claim and commit lie a few requests; a claim that old belongs to a run that is gone. Milliseconds. */
const claimLimit = 60_000;

const dryRunNote =
  'Dry run: everything is read, checked and planned, and nothing is written. On pull requests that is the default; `dry-run: false` publishes.';

/** One run of the action: what the transaction works with, and the sentences it wants the user to see at the end. */
export interface Session {
  readonly run: RunContext;
  readonly warnings: readonly string[];
  /** Milliseconds since the epoch. */
  readonly started: number;
}

/** Reads and checks the keys, and puts together everything that is not a function of the inputs: clock, names, chance. */
export async function startSession(settings: Settings, clock: Clock, runner: Runner): Promise<Session> {
  const { request, signing, sourceDateEpoch } = settings;
  const started = clock.now();
  if (isDryRun(request)) runner.info(dryRunNote);
  const warnings: string[] = [];
  const warn = (sentence: string) => {
    if (warnings.includes(sentence)) return;
    warnings.push(sentence);
    runner.warning(sentence, 'apt-publish');
  };
  const date = sourceDateEpoch === undefined ? started : sourceDateEpoch * 1000;
  const keys = typeof signing === 'string' ? undefined : await readKeys(signing, new Date(date), warn);
  const run: RunContext = {
    ...openStore(settings.store, clock, version),
    ...(await openOrigin(settings, clock, version)),
    clock,
    random: Math.random,
    recorder: new Recorder(clock, progressLog(clock, runner.info)),
    ...(keys === undefined ? {} : { keys }),
    ...(signing === 'no-key' || settings.store.kind === 'public' ? { outside: true } : {}),
    ...(sourceDateEpoch === undefined ? { keepTimings: true } : {}),
    run: runName(settings),
    ...publisher(settings, runner),
    date,
    ...traffic(settings, clock),
    ...(settings.renameMethod === undefined ? {} : { renameMethod: settings.renameMethod }),
    claimLimit,
    warn,
  };
  return { run, warnings, started };
}

/**
 * How requests are let in. What is `auto` shares its slots, since it shares the store. A number makes a run that does the same each time, as
 * comparisons want it (perf-reporting: "deterministic mode"): it is obeyed exactly, and nothing is sent again because it is late.
 */
function traffic({ request, store }: Settings, clock: Clock): Pick<RunContext, 'requests' | 'renames' | 'hedging'> {
  const auto = store.kind === 'directory' ? limiter(inDirectory) : adaptiveSlots(clock);
  const slots = (setting: number | 'auto'): Slots => (setting === 'auto' ? auto : limiter(setting));
  const { uploadConcurrency, renameConcurrency } = request;
  const hedges = store.kind !== 'directory' && uploadConcurrency === 'auto' && renameConcurrency === 'auto';
  return {
    requests: slots(uploadConcurrency),
    renames: slots(renameConcurrency),
    ...(hedges ? { hedging: new Hedging(clock) } : {}),
  };
}

async function readKeys(
  { keys, passphrase, fingerprint }: SigningSettings,
  at: Date,
  warn: (sentence: string) => void,
): Promise<SigningKeys> {
  const signingKeys = await readSigningKeys({
    keys,
    at,
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  });
  for (const warning of await preflight(signingKeys, at)) warn(warning);
  return signingKeys;
}

/**
 * Who publishes, for the command history: `octo-org/tool, run 123456, by octocat`. A run with a fixed date is the same whoever starts it, and
 * says nothing.
 */
function publisher({ sourceDateEpoch }: Settings, runner: Pick<Runner, 'variable'>): { readonly by?: string } {
  if (sourceDateEpoch !== undefined) return {};
  const parts = [
    ['GITHUB_REPOSITORY', ''],
    ['GITHUB_RUN_ID', 'run '],
    ['GITHUB_ACTOR', 'by '],
  ] as const;
  const told = parts.flatMap(([name, lead]) => {
    const value = runner.variable(name)?.replace(/\p{Cc}/gu, '');
    return value === undefined || value === '' ? [] : [`${lead}${value}`];
  });
  return told.length === 0 ? {} : { by: told.join(', ') };
}

/**
 * A run with a fixed date is to give the same bytes wherever it runs, its records too: it is named for what it is asked to do, and
 * two such runs at once may take each other's claims for their own, since these are the same to the byte.
 */
function runName({ request, sourceDateEpoch }: Settings): string {
  if (sourceDateEpoch === undefined) return randomUUID();
  return createHash('sha256').update(JSON.stringify({ request, sourceDateEpoch })).digest('hex').slice(0, 32);
}

import { Problem } from '../problem.ts';
import { publicKeys } from '../signing/verify.ts';
import { checkIndexes, checkNames } from './check-indexes.ts';
import { checkServed } from './check-served.ts';
import type { Finding } from './finding.ts';
import { byHashKey, headKey } from './layout.ts';
import type { ListedPoolFile } from './listed-files.ts';
import { mend } from './mend.ts';
import { findOrphans } from './orphans.ts';
import type { PoolFacts } from './pool-facts.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import { publishedShape } from './suite-state.ts';
import { isFault, type SuiteView, viewSuite } from './suite-view.ts';
import { together, wave } from './wave.ts';

/** What verifying a suite takes besides the suite. */
export interface SuiteChecks {
  readonly pool: PoolFacts;
  readonly repair: boolean;
  /** Where readers reach the repository over http. */
  readonly publicUrl?: string;
}

/** A suite, verified. */
export interface VerifiedSuite {
  readonly suite: string;
  /** Absent when record or head cannot be read: what the suite reaches is not known then. */
  readonly view: SuiteView | undefined;
  readonly findings: readonly Finding[];
  readonly indexes: number;
  /** Pool files that the suite reaches, each once. */
  readonly listed: readonly ListedPoolFile[];
  /** Whether every list of packages could be read. */
  readonly complete: boolean;
}

/** How often a suite is looked at again because others publish into it. */
const rounds = 20;
/** Added to a claimer's limit: stores tell the age of an object in whole seconds. Milliseconds. */
const margin = 2000;

/** Verifies a suite and, where that is asked for, mends what can be mended and verifies it again. */
export async function verifySuite(run: RunContext, suite: string, checks: SuiteChecks): Promise<VerifiedSuite> {
  const found = await stableSuite(run, suite, checks);
  const { view } = found;
  if (!checks.repair || view === undefined || !(await mend(run, view, found.findings))) return found;
  const after = await stableSuite(run, suite, checks);
  const left = new Set(after.findings.map(identity));
  const repaired = found.findings.filter((finding) => !left.has(identity(finding)));
  return {
    ...after,
    findings: [...repaired.map((finding) => ({ ...finding, repaired: true }) as const), ...after.findings],
  };
}

function identity({ kind, key }: Finding): string {
  return `${kind} ${key}`;
}

/**
 * What stands wrong in a suite that nobody is changing. A finding counts when record and head are the same before and after it; one
 * about a name that changes counts when the newest claim is past its time limit, too, since its holder may still be writing
 * names until then.
 */
async function stableSuite(run: RunContext, suite: string, checks: SuiteChecks): Promise<VerifiedSuite> {
  const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
  const lookAgain = () => phase(run, 'read', suite, (reading) => viewSuite(reading, suite, trusted));
  let outlasted: string | undefined;
  for (let round = 1; round <= rounds; round += 1) {
    let view: SuiteView;
    try {
      view = await lookAgain();
    } catch (error) {
      if (!isFault(error)) throw error;
      const finding: Finding = { kind: 'head', suite, key: headKey(suite, trusted !== undefined), what: error.what };
      return { suite, view: undefined, findings: [finding], indexes: 0, listed: [], complete: false };
    }
    const found = await phase(run, 'read', suite, (reading) => checkSuite(run, reading, view, checks));
    if (found.findings.length === 0) return found;
    const again = await lookAgain().catch((error: unknown) => {
      if (!isFault(error)) throw error;
      return undefined;
    });
    if (again?.moment !== view.moment) continue;
    const young = restOfClaim(view);
    const open = found.findings.some(({ kind }) => kind === 'canonical' || kind === 'release');
    if (!open || young <= 0 || outlasted === view.moment) return found;
    outlasted = view.moment;
    await phase(run, 'wait', suite, () => run.clock.sleep(young));
  }
  throw new Problem({
    code: 'suite-busy',
    title: 'Other publishers came too fast',
    what: `Suite ${suite} was published ${rounds} times by others while this run verified it.`,
    advice: 'Run the job again when less is going on.',
  });
}

/** How long the holder of the newest claim may still be at work, milliseconds. */
function restOfClaim({ published: { record, recordAge = 0 } }: SuiteView): number {
  return record.claim.limitSeconds * 1000 + margin - recordAge * 1000;
}

async function checkSuite(
  run: RunContext,
  reading: Phase,
  view: SuiteView,
  { pool, publicUrl }: SuiteChecks,
): Promise<VerifiedSuite> {
  const { suite } = view;
  const [indexes, names, orphans] = await together(
    checkIndexes(reading, view),
    checkNames(run, reading, view),
    orphansOf(reading, view),
  );
  // A package for all stands in several lists, and in several generations.
  const unique = new Map(indexes.listed.map((file) => [`${file.filename} ${file.sha256 ?? ''}`, file]));
  const listed = [...unique.values()];
  const [files, served] = await together(
    wave(listed, (file) => checkFile(reading, suite, pool, file)),
    publicUrl === undefined ? undefined : checkServed(run, reading.scope, publicUrl, view, listed[0]),
  );
  const findings = [...unfinished(view), ...indexes.findings, ...names, ...files.flat(), ...(served ?? []), ...orphans];
  return { suite, view, findings, indexes: indexes.read, listed, complete: indexes.complete };
}

async function checkFile(reading: Phase, suite: string, pool: PoolFacts, file: ListedPoolFile): Promise<Finding[]> {
  const what = await pool.faultOf(reading, file);
  return what === undefined ? [] : [{ kind: 'pool', suite, key: file.filename, what }];
}

function unfinished({ suite, settled, published }: SuiteView): Finding[] {
  if (settled) return [];
  const { number } = published.record.generation;
  const what = `Generation ${number} is claimed and not committed: a run is at work, or was stopped, and the next one that publishes finishes it.`;
  return [
    { kind: 'unfinished', suite, key: headKey(suite, published.record.generation.releaseGpg !== undefined), what },
  ];
}

async function orphansOf({ store }: Phase, { suite, published, live }: SuiteView): Promise<Finding[]> {
  const { components } = publishedShape(published.release);
  const all = [...components, ...publishedShape(live?.release).components];
  const orphans = await findOrphans(store, suite, published, [...new Set(all)]);
  // What is fading may have been deleted already, or not: a later claim finds out.
  const fading = new Set(published.record.fading.map(({ path, sha256 }) => byHashKey(suite, path, sha256)));
  return orphans
    .map(({ path, sha256 }) => byHashKey(suite, path, sha256))
    .filter((key) => !fading.has(key))
    .map(
      (key): Finding => ({ kind: 'orphan', suite, key, what: 'Nothing names it: the next republish has it removed.' }),
    );
}

import { Problem } from '../problem.ts';
import { publicKeys } from '../signing/verify.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { type Finding, throwBroken } from './finding.ts';
import { recordKey } from './layout.ts';
import { readRecord, type Trusted } from './look.ts';
import { type SuiteResult, unchangedResult } from './outcome.ts';
import { type PoolFacts, poolPrefix, readPool } from './pool-facts.ts';
import { lookAtPool } from './pool-look.ts';
import { filesReached } from './reach.ts';
import type { VerifyRequest } from './request.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import type { SuiteRecord } from './suite-record.ts';
import { allSuites } from './suite-register.ts';
import { type VerifiedSuite, verifySuite } from './verify-suite.ts';
import { wave } from './wave.ts';

/**
 * Reads everything that readers and the next publishers of these suites may read, and says what is wrong with it. Without `repair` it writes
 * nothing, not even what a stopped run has left to finish. Throws `BrokenRepository`, with the results, when something is broken and was
 * not mended.
 */
export async function verify(run: RunContext, request: VerifyRequest): Promise<SuiteResult[]> {
  const { deep, repair, publicUrl } = request;
  // The pool before the suites: what is uploaded in between is not in the listing, and so no orphan.
  const pool = await phase(run, 'read', undefined, (reading) => readPool(reading, deep));
  const checks = { pool, repair, ...(publicUrl === undefined ? {} : { publicUrl }) };
  const suites = await wave(request.suites, ({ suite }) => verifySuite(run, suite, checks));
  const orphans = await phase(run, 'read', undefined, (reading) => poolOrphans(run, reading, pool, suites));
  const results = suites.map(
    ({ suite, view, findings, indexes, listed }, index): SuiteResult => ({
      ...unchangedResult({ suite, published: view?.published }),
      verification: {
        findings: index === 0 ? [...findings, ...orphans] : findings,
        checked: { indexes, poolFiles: listed.length },
      },
    }),
  );
  throwBroken(results);
  return results;
}

/** Pool files that no suite reaches, these or others, and that no record plans to remove. */
async function poolOrphans(
  run: RunContext,
  { store }: Phase,
  pool: PoolFacts,
  suites: readonly VerifiedSuite[],
): Promise<Finding[]> {
  const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
  const { record } = await lookAtPool(store);
  const known = new Set(record?.condemned);
  const verified = new Set(suites.map(({ suite }) => suite));
  for (const { view, listed } of suites) {
    for (const filename of [...listed.map((file) => file.filename), ...plannedFiles(view?.published.record)])
      known.add(filename);
  }
  // What cannot be read of these is a finding by itself.
  if (!suites.every(({ complete }) => complete)) return [];
  const unread: string[] = [];
  const others = (await allSuites(store)).filter((suite) => !verified.has(suite));
  await wave(others, async (suite) => {
    const files = await filesOf(store, suite, trusted);
    if (files === undefined) unread.push(suite);
    else for (const filename of files) known.add(filename);
  });
  if (unread.length > 0) {
    const what = `Files that nothing names were not looked for, since not everything that suite ${unread.sort().join(', ')} lists can be read.`;
    return [{ kind: 'orphan', key: poolPrefix, what }];
  }
  const what = 'No suite lists it, and none has to remove it: a run that was stopped has left it, or one is at work.';
  return [...pool.files].filter((key) => !known.has(key)).map((key): Finding => ({ kind: 'orphan', key, what }));
}

/** What a suite that is not verified itself reaches or has to remove; undefined when that cannot be read. */
async function filesOf(store: ObjectStore, suite: string, trusted: Trusted): Promise<string[] | undefined> {
  const object = await store.get(recordKey(suite));
  if (!object.found) return [];
  try {
    const published = await readRecord(object, suite, trusted);
    return [...(await filesReached(store, suite, published)), ...plannedFiles(published.record)];
  } catch (error) {
    if (error instanceof Problem && !error.code.startsWith('store-')) return undefined;
    throw error;
  }
}

/** Files that a suite has un-listed, or that are on their way to it. */
function plannedFiles(record: SuiteRecord | undefined): string[] {
  if (record === undefined) return [];
  return [...record.unlisted.map(({ filename }) => filename), ...record.generation.added];
}

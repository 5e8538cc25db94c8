import { sourcesEntry } from '../debian/sources-entry.ts';
import { Problem, Problems } from '../problem.ts';
import { DryRunProblems } from '../publish/carry-out.ts';
import { BrokenRepository, type Finding, isBroken } from '../publish/finding.ts';
import type { HistoryEntry } from '../publish/history.ts';
import type { SuiteResult } from '../publish/outcome.ts';
import { isDryRun } from '../publish/request.ts';
import { historyLines, renderHistory } from '../report/history.ts';
import { renderSummary } from '../report/summary.ts';
import { renderVerification, verificationLines } from '../report/verification.ts';
import { armoredPublicKey } from '../signing/verify.ts';
import { makeRunRecord, type RunRecord } from '../timing/record.ts';
import { writeComment } from './comment.ts';
import { localUri, storeKind } from './open-store.ts';
import { outputsOf, setOutputs, writeRunRecord } from './outputs.ts';
import type { Runner } from './runner.ts';
import type { Session } from './session.ts';
import type { Settings } from './settings.ts';
import { appendSummary } from './summary-file.ts';
import { writeTraces } from './trace-files.ts';

/** How a run ended: with what it has done to each suite, or with what was thrown. */
export type Ending = { readonly results: readonly SuiteResult[] } | { readonly error: unknown };

/** Writes run record, outputs and job summary, whether the run ended well or not. */
export async function reportRun(settings: Settings, session: Session, ending: Ending, runner: Runner): Promise<void> {
  const results = resultsOf(ending);
  const record = recordOf(settings, session, ending);
  const { keys } = session.run;
  const publicKey = keys === undefined ? undefined : armoredPublicKey(keys);
  const entry = sourcesEntries(settings, results, publicKey);
  const heads = results.flatMap(({ outcome, headSha256 }): [string, string][] =>
    headSha256 === undefined ? [] : [[outcome.suite, headSha256]],
  );
  const histories = results.flatMap(({ outcome, history }): [string, readonly HistoryEntry[]][] =>
    history === undefined ? [] : [[outcome.suite, history]],
  );
  const verified = verificationOf(results);
  const parts = {
    ...(entry === undefined ? {} : { sourcesEntry: entry }),
    ...(publicKey === undefined ? {} : { publicKey }),
    inReleaseSha256: new Map(heads),
    history: new Map(histories),
    ...(verified === undefined ? {} : { findings: verified.findings }),
    timings: await writeRunRecord(record, settings.temporaryFolder),
  };
  setOutputs(outputsOf(record, parts), runner);
  if (settings.trace !== undefined) await writeTraces(record, settings.trace, runner);
  if (histories.length > 0) {
    for (const line of historyLines(histories)) runner.info(line);
    await appendSummary(renderHistory(histories), runner);
    return;
  }
  if (verified !== undefined) {
    for (const line of verificationLines(verified)) runner.info(line);
    await appendSummary(renderVerification(verified), runner);
    return;
  }
  await appendSummary(renderSummary(record, entry === undefined ? {} : { sourcesEntry: entry }), runner);
  await writeComment(settings, record, session.run.clock, runner);
}

function recordOf({ request, store }: Settings, session: Session, ending: Ending): RunRecord {
  const { recorder, hedging } = session.run;
  const results = resultsOf(ending);
  return makeRunRecord({
    started: session.started,
    durationMs: recorder.now(),
    outcome: outcomeOf(ending, isDryRun(request)),
    store: {
      kind: storeKind(store),
      conditions: results.find(({ conditions }) => conditions)?.conditions ?? 'unknown',
    },
    suites: results.map(({ outcome }) => outcome),
    phases: recorder.phases,
    spans: recorder.spans,
    ...(hedging?.counts === undefined ? {} : { hedges: hedging.counts }),
    warnings: session.warnings,
    ...('error' in ending ? { problems: problemsOf(ending.error) } : {}),
  });
}

function resultsOf(ending: Ending): readonly SuiteResult[] {
  if ('results' in ending) return ending.results;
  const { error } = ending;
  return error instanceof DryRunProblems || error instanceof BrokenRepository ? error.results : [];
}

/** What the command verify came to in all suites together; undefined for other commands. */
function verificationOf(results: readonly SuiteResult[]) {
  const all = results.flatMap(({ verification }) => verification ?? []);
  if (all.length === 0) return undefined;
  const findings: Finding[] = all.flatMap((each) => each.findings);
  const broken = findings.filter(isBroken);
  const sum = (of: 'indexes' | 'poolFiles') => all.reduce((total, { checked }) => total + checked[of], 0);
  return {
    suites: results.map(({ outcome }) => outcome.suite),
    findings: [...broken, ...findings.filter((finding) => !isBroken(finding))],
    broken: broken.length,
    checked: { indexes: sum('indexes'), poolFiles: sum('poolFiles') },
  };
}

/** A dry run that has found what a publish would fail of has done what it is for. */
function outcomeOf(ending: Ending, dryRun: boolean): RunRecord['outcome'] {
  if ('error' in ending) return ending.error instanceof DryRunProblems ? 'dry-run' : 'failed';
  if (dryRun) return 'dry-run';
  return ending.results.some(({ outcome }) => outcome.changed) ? 'published' : 'unchanged';
}

function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof Problem) return [error];
  if (error instanceof Problems && error.all.length > 0) return error.all;
  const unexpected = new Problem({
    code: 'unexpected',
    title: 'apt-publish failed unexpectedly',
    what: 'The run stopped because of a defect of apt-publish.',
    advice: 'Please report it with the log of this step.',
  });
  return [unexpected];
}

/** Suites of one shape share an entry, ready to paste; undefined where nobody has said how the bucket is reached from outside. */
function sourcesEntries(
  { publicUrl, store, signing }: Settings,
  results: readonly SuiteResult[],
  publicKey: string | undefined,
): string | undefined {
  const uri = publicUrl ?? localUri(store);
  if (uri === undefined || results.length === 0 || signing === 'no-key') return undefined;
  const shapes = Map.groupBy(results, ({ components, architectures, hasSources }) =>
    JSON.stringify([components, architectures, hasSources]),
  );
  const trust = publicKey === undefined ? 'unsigned' : { key: publicKey };
  return [...shapes.values()]
    .flatMap((alike) => {
      const suites = alike.map(({ outcome }) => outcome.suite);
      return alike.slice(0, 1).map((shape) => sourcesEntry({ ...shape, uri, suites, trust }));
    })
    .join('\n');
}

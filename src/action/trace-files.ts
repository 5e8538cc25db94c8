import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { renderChromeTrace } from '../report/chrome-trace.ts';
import { renderOtlpTrace } from '../report/otlp-trace.ts';
import type { RunRecord } from '../timing/record.ts';
import type { Runner } from './runner.ts';

/**
 * Writes the trace of a run to `path`, for trace viewers, and beside it, for OpenTelemetry, a file whose name ends in `.otlp.jsonl`
 * instead of `.json`. Folders that are missing are made. What cannot be written is a warning: the run has published.
 */
export async function writeTraces(record: RunRecord, path: string, runner: Pick<Runner, 'warning'>): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, renderChromeTrace(record));
    await writeFile(`${path.replace(/\.json$/, '')}.otlp.jsonl`, renderOtlpTrace(record));
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    runner.warning(`The trace was not written to \`trace\`: ${cause}`, 'apt-publish');
  }
}

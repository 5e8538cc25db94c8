import { summary } from '@actions/core';
import type { Runner } from './runner.ts';

/**
 * Appends a report to the job summary. A summary that cannot be written (no runner, a full disk, a file taken away) is told in the debug
 * log and never fails a run that has published.
 */
export async function appendSummary(markdown: string, runner: Pick<Runner, 'debug' | 'secrets'>): Promise<void> {
  try {
    await summary.addRaw(runner.secrets.redact(markdown), true).write();
  } catch (error) {
    runner.debug(`the job summary was not written: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    summary.emptyBuffer();
  }
}

import { tmpdir } from 'node:os';
import { keepMemoryOutOfCoreFiles } from './action/core-files.ts';
import { reportFailure } from './action/failure.ts';
import { readSettings } from './action/inputs.ts';
import { type Ending, reportRun } from './action/report-run.ts';
import { githubRunner } from './action/runner.ts';
import { startSession } from './action/session.ts';
import { publishSite } from './action/site.ts';
import { systemClock } from './action/system-clock.ts';
import { perform } from './publish/commands.ts';

keepMemoryOutOfCoreFiles();
const runner = githubRunner();
try {
  const { secrets } = runner;
  const settings = await readSettings({ source: runner, secrets, folder: '.', temporaryFolder: tmpdir() });
  const session = await startSession(settings, systemClock, runner);
  const ending = await perform(session.run, settings.request).then(
    async (results): Promise<Ending> => {
      await publishSite(settings, session.run, results);
      return { results };
    },
    (error: unknown): Ending => ({ error }),
  );
  await reportRun(settings, session, ending, runner);
  if ('error' in ending) throw ending.error;
} catch (error) {
  reportFailure(error, runner);
}

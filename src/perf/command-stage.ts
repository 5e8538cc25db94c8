import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import type { Runner } from '../action/runner.ts';
import { Problem } from '../problem.ts';
import type { Clock } from '../timing/clock.ts';
import { type Command, parseCommand } from './command.ts';
import { mayWrite, mergeBase, newestRun, type PullRequestState, pullRequestState } from './github-api.ts';
import { tell } from './perf-thread.ts';
import { audienceOf, type StageInputs } from './stage-inputs.ts';

const event = v.object({
  action: v.literal('created'),
  comment: v.object({ body: v.string(), user: v.object({ login: v.string() }) }),
  issue: v.object({ number: v.pipe(v.number(), v.safeInteger(), v.minValue(1)), pull_request: v.object({}) }),
  repository: v.object({ default_branch: v.string() }),
});

const nightly = 'perf-nightly.yml';

/**
 * Answers a comment on a pull request. A command by somebody who may write, in words of the grammar, about a commit that is bound to it, sets the
 * outputs that the other jobs go by (`go`, `head`, `base` …); everything else sets `go` to `false`, with the reason in the comment where its
 * author may write, and in the log alone otherwise: nobody else can make this project's bot speak.
 */
export async function commandStage(inputs: StageInputs, clock: Clock, runner: Runner): Promise<void> {
  const { comment, issue, repository: own } = await readEvent(runner);
  const audience = audienceOf(inputs, runner, issue.number);
  const { repository, run } = audience;
  const pairing = `pr${issue.number}-${run.id}-${run.attempt}`;
  runner.output('go', 'false');
  if (!comment.body.startsWith('/apt-perf')) return runner.info('no command');
  if (!(await mayWrite(repository, comment.user.login)))
    return runner.info('the command is not by somebody who may write to this repository');
  const pull = await pullRequestState(repository, issue.number);
  const subject = { base: pull?.base ?? 'unknown', head: pull?.head ?? 'unknown', pairing };
  try {
    const command = parseCommand(comment.body);
    if (command === undefined) return runner.info('no command');
    const { head, base, fork } = bound(command, pull);
    const from = (await mergeBase(repository, base, head)) ?? base;
    const noise = await newestRun(repository, nightly, own.default_branch).catch((error: unknown) => {
      runner.info(`the noise band is the default one: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
    const outputs = {
      go: 'true',
      number: String(issue.number),
      pairing,
      head,
      base: from,
      fork: String(fork),
      pairs: String(command.pairs),
      scenarios: command.scenarios.join(' '),
      endpoint: command.endpoint,
      'noise-run': noise === undefined ? '' : String(noise),
    };
    for (const [name, value] of Object.entries(outputs)) runner.output(name, value);
    await tell(audience, { base: from, head, pairing }, { state: 'queued' }, clock, runner);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await tell(audience, subject, { state: 'refused', what: error.what, advice: error.advice }, clock, runner);
  }
}

/**
 * What a command may measure. A fork's author can push between review and command, so there a command has to name the commit, which nobody
 * can before it exists; and code of a fork never comes near a real store's keys.
 */
function bound({ reviewed, endpoint }: Command, pull: PullRequestState | undefined): PullRequestState {
  if (pull === undefined || !pull.open) {
    throw refused('is not open', 'Open it again, then comment `/apt-perf`.');
  }
  if (reviewed !== undefined && reviewed !== pull.head) {
    throw refused('has another newest commit than the command names', `Review ${pull.head}, then name that.`);
  }
  if (pull.fork && reviewed === undefined) {
    throw refused('comes from a fork', `Review its newest commit, then comment \`/apt-perf ${pull.head}\`.`);
  }
  if (pull.fork && endpoint === 's3') {
    throw refused('comes from a fork, whose code gets no keys of a real store', 'Leave out `endpoint=s3`.');
  }
  return pull;
}

function refused(what: string, advice: string): Problem {
  return new Problem({
    code: 'command-refused',
    title: 'The command was refused',
    what: `The pull request ${what}.`,
    advice,
  });
}

async function readEvent(runner: Runner): Promise<v.InferOutput<typeof event>> {
  try {
    return v.parse(event, JSON.parse(await readFile(runner.variable('GITHUB_EVENT_PATH') ?? '', 'utf8')));
  } catch (cause) {
    throw new Problem({
      code: 'event-unreadable',
      title: 'The event of this run is no new comment',
      what: 'The event that started this run is not a comment that was made on a pull request.',
      advice: 'Start the workflow on `issue_comment` with `types: [created]`, for pull requests only.',
      cause,
    });
  }
}

import * as v from 'valibot';
import { Problem } from '../problem.ts';

/** A repository of GitHub's REST API, as whoever the token belongs to sees it. */
export interface Repository {
  /** `https://api.github.com`, or `https://HOST/api/v3`. */
  readonly apiUrl: string;
  /** `owner/name`. */
  readonly name: string;
  readonly token: string;
}

const timeLimit = 20_000;

/**
 * What a GET below the repository answers, as far as the schema wants it; undefined for 404. Throws the `Problem` `github-refused` for any
 * other answer than success, and for none.
 */
async function ask<S extends v.GenericSchema>(
  { apiUrl, name, token }: Repository,
  path: string,
  schema: S,
): Promise<v.InferOutput<S> | undefined> {
  try {
    const response = await fetch(`${apiUrl.replace(/\/+$/, '')}/repos/${name}/${path}`, {
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
      },
      signal: AbortSignal.timeout(timeLimit),
    });
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`GitHub answered ${response.status}`);
    return v.parse(schema, await response.json());
  } catch (cause) {
    throw new Problem({
      code: 'github-refused',
      title: 'GitHub did not answer as it should',
      what: `GitHub gave no usable answer about ${path.split(/[/?]/)[0] ?? 'the repository'}.`,
      advice:
        'See that the job has the permissions that the workflow perf.yml writes down, then comment `/apt-perf` again.',
      cause,
    });
  }
}

const permission = v.object({ permission: v.string() });

/**
 * Whether somebody may write to the repository. `permission` is what GitHub works out from teams and organisation, with `maintain` told as
 * `write`; the comment's `author_association` shows private members as strangers, and everybody may read a public repository.
 */
export async function mayWrite(repository: Repository, login: string): Promise<boolean> {
  const found = await ask(repository, `collaborators/${encodeURIComponent(login)}/permission`, permission);
  return found !== undefined && ['admin', 'write'].includes(found.permission);
}

const commit = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/));
const pullRequest = v.object({
  state: v.string(),
  head: v.object({ sha: commit, repo: v.nullable(v.object({ id: v.number() })) }),
  base: v.object({ sha: commit, repo: v.object({ id: v.number() }) }),
});

/** A pull request at the moment of asking. */
export interface PullRequestState {
  readonly open: boolean;
  readonly head: string;
  readonly base: string;
  /** Whether its code comes from another repository, or from one that is gone. */
  readonly fork: boolean;
}

export async function pullRequestState(repository: Repository, number: number): Promise<PullRequestState | undefined> {
  const pull = await ask(repository, `pulls/${number}`, pullRequest);
  if (pull === undefined) return undefined;
  const { state, head, base } = pull;
  return { open: state === 'open', head: head.sha, base: base.sha, fork: head.repo?.id !== base.repo.id };
}

const comparison = v.object({ merge_base_commit: v.object({ sha: commit }) });

/** The commit that a branch left its base at: what the branch is slower than, rather than what has happened beside it. */
export async function mergeBase(repository: Repository, base: string, head: string): Promise<string | undefined> {
  return (await ask(repository, `compare/${base}...${head}?per_page=1`, comparison))?.merge_base_commit.sha;
}

const runs = v.object({ workflow_runs: v.array(v.object({ id: v.number() })) });

/** The newest successful run of a workflow on a branch; undefined where there is no such workflow or run. */
export async function newestRun(repository: Repository, workflow: string, branch: string): Promise<number | undefined> {
  const query = `branch=${encodeURIComponent(branch)}&status=success&per_page=1`;
  return (await ask(repository, `actions/workflows/${workflow}/runs?${query}`, runs))?.workflow_runs[0]?.id;
}

const jobs = v.object({
  jobs: v.array(
    v.object({
      name: v.string(),
      status: v.string(),
      steps: v.optional(v.array(v.object({ name: v.string(), conclusion: v.nullable(v.string()) })), []),
    }),
  ),
});
export type Job = v.InferOutput<typeof jobs>['jobs'][number];

/** The jobs of an attempt at a run, as they are at the moment. */
export async function jobsOf(repository: Repository, run: number, attempt: number): Promise<readonly Job[]> {
  return (await ask(repository, `actions/runs/${run}/attempts/${attempt}/jobs?per_page=100`, jobs))?.jobs ?? [];
}

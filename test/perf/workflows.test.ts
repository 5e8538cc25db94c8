import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { root } from '../../scripts/build.ts';
import { stages } from '../../src/perf/stage-inputs.ts';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly 'runs-on': unknown;
  readonly needs?: string | readonly string[];
  readonly env?: unknown;
  readonly secrets?: unknown;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly if?: string;
  readonly environment?: string;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly env?: unknown;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

async function workflow(name: string): Promise<Workflow & { readonly text: string }> {
  const text = await readFile(join(root, '.github/workflows', name), 'utf8');
  return { ...parse(text), text };
}

/** Jobs that check out, build, fetch or run what a pull request brought. */
const runsHead = (job: Job) =>
  job.steps.some(
    ({ uses = '', run, with: inputs = {} }) =>
      uses.startsWith('actions/checkout') ||
      run !== undefined ||
      inputs['do'] === 'measure' ||
      (uses.startsWith('actions/download-artifact') && /bundle/.test(JSON.stringify(inputs))),
  );
const measures = (job: Job | undefined) =>
  (job?.steps ?? []).filter(({ with: inputs = {} }) => inputs['do'] === 'measure');

const perf = await workflow('perf.yml');
const nightly = await workflow('perf-nightly.yml');
const action: { inputs: Record<string, { default?: string }>; outputs: object } = parse(
  await readFile(join(root, 'perf/action.yml'), 'utf8'),
);

describe('a job that runs the code of a fork', () => {
  const jobs = Object.entries(perf.jobs).filter(([, job]) => runsHead(job) && !job.if?.includes("fork == 'false'"));

  it('is one that builds, or the one that measures against the emulator', () => {
    assert.deepEqual(
      jobs.map(([name]) => name),
      ['build', 'measure'],
    );
  });

  for (const [name, job] of jobs) {
    it(`holds no secret, no token that writes and no environment (${name})`, () => {
      const text = JSON.stringify(job);
      assert.doesNotMatch(text, /secrets|github\.token|github-token|GITHUB_TOKEN|id-token/);
      assert.equal(job.environment, undefined);
      assert.ok(job.permissions, 'without permissions of its own a job has those of the caller');
      assert.deepEqual(
        Object.entries(job.permissions).filter(([name, level]) => level !== 'read' || name !== 'contents'),
        [],
      );
    });

    it(`runs on a machine of GitHub's that nobody uses after it (${name})`, () => {
      assert.equal(job['runs-on'], 'ubuntu-24.04');
    });

    it(`is told nothing but what the command is bound to (${name})`, () => {
      const expressions = [...JSON.stringify(job).matchAll(/\$\{\{ *(.*?) *\}\}/g)].map(([, expression]) => expression);
      assert.ok(expressions.length > 0);
      for (const expression of expressions)
        assert.match(expression ?? '', /^needs\.command\.outputs(\.[a-z-]+|\[matrix\.side\])$|^matrix\.side$/);
      assert.equal(job.env, undefined);
      assert.equal(job.secrets, undefined);
    });

    it(`fetches artifacts of its own run alone, for which no token is asked (${name})`, () => {
      for (const { uses = '', with: inputs = {} } of job.steps) {
        if (!uses.startsWith('actions/download-artifact')) continue;
        assert.deepEqual(
          Object.keys(inputs).filter((input) => !['name', 'pattern', 'path'].includes(input)),
          [],
        );
      }
    });
  }

  it('leaves no credentials behind and keeps no cache that a trusted job could read', () => {
    for (const [, { steps }] of jobs) {
      for (const { uses = '', with: inputs = {} } of steps) {
        if (uses.startsWith('actions/checkout')) assert.equal(inputs['persist-credentials'], false);
        assert.doesNotMatch(uses, /actions\/cache/);
        if (uses.startsWith('actions/setup-node')) assert.equal(inputs['package-manager-cache'], false);
      }
    }
    assert.match(JSON.stringify(perf.jobs['build']), /npm ci --ignore-scripts/);
  });
});

describe('the job that measures against the emulator', () => {
  const job = perf.jobs['measure'];

  it('has no permission at all', () => assert.deepEqual(job?.permissions, {}));

  it('runs both builds as a user who is nobody else and who reaches this machine alone, before any of them runs', () => {
    const users = new Set(measures(job).map(({ with: inputs = {} }) => String(inputs['user'])));
    assert.equal(users.size, 1);
    const [user = ''] = users;
    assert.match(user, /^\d{5}$/);
    const steps = job?.steps ?? [];
    const fence = steps.findIndex(({ run = '' }) => run.includes('iptables'));
    assert.ok(fence >= 0 && fence < steps.findIndex(({ with: inputs = {} }) => inputs['do'] === 'measure'));
    const lines = (steps[fence]?.run ?? '').trim().split('\n');
    const rule = `--append OUTPUT --match owner --uid-owner ${user} ! --out-interface lo --jump REJECT`;
    assert.deepEqual(lines, [`sudo iptables ${rule}`, `sudo ip6tables ${rule}`]);
  });

  it('measures the noise as it measures a branch', () => {
    const [branch, night] = [job, nightly.jobs['measure']].map((each) => measures(each)[0]?.with?.['user']);
    assert.equal(branch, night);
  });
});

describe('the job that measures on a real store', () => {
  it('is for branches of this repository alone, behind an environment', () => {
    const job = perf.jobs['measure-s3'];
    assert.match(job?.if ?? '', /fork == 'false'/);
    assert.equal(job?.environment, 'apt-perf');
    // Builds that run as another user are told their keys in the open.
    assert.ok(measures(job).every(({ with: inputs = {} }) => inputs['user'] === undefined));
    const holders = Object.entries(perf.jobs).filter(([, each]) => JSON.stringify(each).includes('secrets.'));
    assert.deepEqual(
      holders.map(([name]) => name),
      ['measure-s3'],
    );
  });
});

describe('the workflow of the command', () => {
  it('starts by a new comment or by a caller, and has neither secret nor environment of its own', () => {
    assert.deepEqual(Object.keys(perf.on).sort(), ['issue_comment', 'workflow_call']);
    assert.deepEqual(perf.on['issue_comment'], { types: ['created'] });
    assert.equal(perf.env, undefined);
    assert.doesNotMatch(perf.text, /secrets: *inherit|id-token/);
  });
});

describe('a job that may write', () => {
  it('never checks out and never runs a program that others built', () => {
    for (const [name, job] of Object.entries(perf.jobs)) {
      if (!Object.values(job.permissions ?? {}).includes('write')) continue;
      assert.equal(runsHead(job), false, name);
      // What the measuring left is read as data, by the action of the default branch.
      const fetched = job.steps.filter(({ uses = '' }) => uses.startsWith('actions/download-artifact'));
      for (const { with: inputs = {} } of fetched)
        assert.match(String(inputs['name']), /^(comparison|noise|perf-noise)$/, name);
      assert.deepEqual(
        job.steps.filter(({ run }) => run !== undefined),
        [],
        name,
      );
    }
  });
});

describe('both workflows', () => {
  for (const [name, { permissions, jobs, text }] of Object.entries({ perf, nightly })) {
    it(`give every job what it needs and the rest nothing (${name})`, () => {
      assert.deepEqual(permissions, {});
      for (const job of Object.values(jobs)) {
        assert.ok(job.permissions);
        assert.ok(job['timeout-minutes']);
      }
      assert.doesNotMatch(text, /pull_request_target|workflow_run:|unsafe/);
    });

    it(`pin what they use, and put no expression into a script (${name})`, () => {
      for (const { uses, run } of Object.values(jobs).flatMap(({ steps }) => steps)) {
        if (uses !== undefined) assert.match(uses, /^\$\/perf$|^actions\/[a-z-]+@[0-9a-f]{40}$/);
        assert.doesNotMatch(run ?? '', /\$\{\{/);
      }
    });

    it(`tell the perf action what it knows (${name})`, () => {
      for (const { uses, with: inputs = {} } of Object.values(jobs).flatMap(({ steps }) => steps)) {
        if (uses !== '$/perf') continue;
        assert.deepEqual(
          Object.keys(inputs).filter((input) => !Object.hasOwn(action.inputs, input)),
          [],
        );
        assert.ok(stages.some((stage) => stage === inputs['do']));
      }
    });
  }

  it('go by outputs that the action has', () => {
    for (const [, output = ''] of perf.text.matchAll(/steps\.(?:command|block-\d)\.outputs\.([a-z-]+)/g))
      assert.ok(Object.hasOwn(action.outputs, output), output);
  });

  it('never give the action a token by default', () => {
    assert.equal(action.inputs['github-token']?.default, undefined);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { actionFaults, workflowFaults } from './github-parser.ts';
import { type Declared, ownWorkflows, readText, usageFaults } from './workflow-file.ts';

const workflows = await ownWorkflows();

/** `$/perf` is `perf` of the commit that is running; `./` the same out of a checkout. */
function ownPath(uses: string): string | undefined {
  return /^(?:\$|\.)(?:\/(.*))?$/.exec(uses)?.[1];
}

describe('the workflows of this repository', () => {
  test('are those that it promises', () => {
    const names = workflows.map(({ name }) => name);
    for (const name of ['check-dist', 'ci', 'e2e', 'perf', 'publish', 'release', 'republish']) {
      assert.ok(names.includes(`${name}.yml`), name);
    }
  });

  for (const { name, text, on, permissions, jobs, concurrency } of workflows) {
    describe(name, () => {
      const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);

      test('is one that GitHub takes', async () => assert.deepEqual(await workflowFaults(name, text), []));

      test('gives nothing on top, each job what it needs, and each an end', () => {
        assert.deepEqual(permissions, {});
        for (const [id, job] of Object.entries(jobs)) assert.ok(job['timeout-minutes'], id);
        // Whoever grants something says what for.
        for (const line of text.split('\n')) {
          if (/^ {6}[a-z-]+: (?:read|write)/.test(line)) assert.match(line, /# (?:to|for) /);
        }
      });

      test('pins what it uses by commit, and says which version that is', () => {
        for (const { uses } of steps) {
          if (uses === undefined || ownPath(uses) !== undefined) continue;
          assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
          assert.match(text, new RegExp(`uses: ${uses} # v\\d+\\.\\d+\\.\\d+\\n`));
        }
      });

      test('puts no expression into a script, and leaves no credentials behind', () => {
        for (const { run = '', uses = '', with: given = {} } of steps) {
          assert.doesNotMatch(run, /\$\{\{/);
          if (uses.startsWith('actions/checkout@')) assert.equal(given['persist-credentials'], false);
        }
        assert.doesNotMatch(text, /pull_request_target|workflow_run:/);
      });

      test('gives its own actions what they take', async () => {
        for (const job of Object.values(jobs)) assert.deepEqual(await usageFaults(job, ownPath), []);
      });

      test('uses the action of its own commit where it runs for others', () => {
        if (typeof on === 'string' || !Object.hasOwn(on, 'workflow_call')) return;
        for (const { uses = '' } of steps) assert.doesNotMatch(uses, /^\.\//, 'a caller has another checkout');
      });

      test('cancels no publish, running or waiting', () => {
        for (const job of Object.values(jobs)) {
          if (!(job.steps ?? []).some(({ uses }) => uses === '$/')) continue;
          const { group, ...rest } = job.concurrency ?? {};
          assert.match(String(group), /inputs\.bucket/);
          assert.deepEqual(rest, { 'cancel-in-progress': false, queue: 'max' });
          assert.equal(concurrency, undefined);
        }
      });
    });
  }
});

describe('a workflow that others call to publish', () => {
  for (const name of ['publish.yml', 'republish.yml']) {
    const { on, jobs } = parse(workflows.find((each) => each.name === name)?.text ?? '');

    test(`uses every input and secret that it declares, and no others (${name})`, () => {
      const { inputs, secrets }: Record<'inputs' | 'secrets', Declared> = on.workflow_call;
      const text = JSON.stringify(jobs);
      for (const [kind, declared] of Object.entries({ inputs, secrets })) {
        const used = [...text.matchAll(new RegExp(`\\b${kind}\\.([\\w-]+)`, 'g'))].map(([, each]) => each);
        assert.deepEqual([...new Set(used)].sort(), Object.keys(declared).sort());
      }
    });
  }
});

for (const name of ['action.yml', 'perf/action.yml']) {
  test(`${name} is one that GitHub takes`, async () => assert.deepEqual(actionFaults(name, await readText(name)), []));
}

test('dependabot keeps actions and packages up to date, by versions that are some days old', async () => {
  const { updates } = parse(await readText('.github/dependabot.yml'));
  const kinds = updates.map((each: { 'package-ecosystem': string }) => each['package-ecosystem']).sort();
  assert.deepEqual(kinds, ['github-actions', 'npm']);
  for (const { cooldown } of updates) assert.ok(cooldown['default-days'] >= 7);
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { workflowFaults } from './github-parser.ts';
import { givenFaults, type Job, parsedWorkflow, readText, usageFaults } from './workflow-file.ts';

const readme = await readText('README.md');
const action = parse(await readText('action.yml'));

/** Examples in order, with the line that they begin at. */
const examples = Array.from(readme.matchAll(/^```yaml\n([\s\S]*?)^```$/gm), ({ 1: text = '', index }) => ({
  text,
  line: readme.slice(0, index).split('\n').length + 1,
}));

/** Readers put their own name in place of `org`. */
function ownPath(uses: string): string | undefined {
  return /^org\/apt-publish(?:\/(.*))?@v1$/
    .exec(uses)
    ?.slice(1)
    .map((path = '.') => path)[0];
}

/** The example as a whole workflow: some show steps only, or what stands under `with`. */
function whole(text: string): string {
  const value = parse(text);
  if (Object.hasOwn(value, 'jobs')) return text;
  const { permissions = {}, steps } = Object.hasOwn(value, 'steps') ? value : { steps: [step(value)] };
  return stringify({ on: 'push', permissions, jobs: { publish: { 'runs-on': 'ubuntu-24.04', steps } } });
}

/** A step that says what an example leaves to its reader. */
function step(inputs: object) {
  return { uses: 'org/apt-publish@v1', with: { suites: 'bookworm', bucket: 'my-packages', ...inputs } };
}

describe('an example in README.md', () => {
  test('is found, and the first fits into twenty lines', () => {
    assert.ok(examples.length >= 15, `${examples.length} examples`);
    assert.ok((examples[0]?.text.trimEnd().split('\n').length ?? 0) <= 20);
  });

  for (const { text, line } of examples) {
    test(`is one that GitHub takes, with inputs that exist (line ${line})`, async () => {
      const workflow = whole(text);
      assert.deepEqual(await workflowFaults(`README.md:${line}`, workflow), []);
      for (const job of Object.values<Job>(parsedWorkflow('README.md', workflow).jobs)) {
        assert.deepEqual(await usageFaults(job, ownPath), []);
      }
    });
  }

  test('that is wrong would be found', async () => {
    assert.deepEqual(givenFaults('it', { sweets: 1, bucket: 'x' }, action.inputs), [
      'it has no sweets',
      'it wants suites',
    ]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub's
    const wrong = whole('suites: ${{ secrts.x }}');
    assert.match((await workflowFaults('x', wrong)).join(), /secrts/);
    const job = { uses: 'org/apt-publish/.github/workflows/publish.yml@v1', with: { artifact: 'debs' } };
    const faults = await usageFaults(job, ownPath);
    assert.match(faults.join(), /wants bucket.*asks for id-token: write/);
  });

  test('of a whole workflow says what rights it needs', () => {
    for (const { text } of examples) {
      const { jobs, permissions } = parse(text);
      if (jobs !== undefined) assert.ok(permissions, text);
    }
  });

  test('uses no input that is not in the table below it', () => {
    const table = /<!-- inputs:begin -->([\s\S]*)<!-- inputs:end -->/.exec(readme)?.[1] ?? '';
    for (const name of Object.keys(action.inputs)) assert.ok(table.includes(`\n| \`${name}\` |`), name);
  });
});

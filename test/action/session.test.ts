import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readSettings } from '../../src/action/inputs.ts';
import { startSession } from '../../src/action/session.ts';
import { TestClock } from '../store/clocks.ts';
import { fakeRunner } from './fake-runner.ts';

const surroundings = { GITHUB_REPOSITORY: 'octo-org/tool', GITHUB_RUN_ID: '77', GITHUB_ACTOR: 'octocat\u0007' };

async function publisherOf(variables: Readonly<Record<string, string>>): Promise<string | undefined> {
  const inputs = { command: 'republish', bucket: './site', suites: 'bookworm', unsigned: 'true' };
  const runner = fakeRunner(inputs, variables);
  const surrounded = { source: runner, secrets: runner.secrets, folder: '.', temporaryFolder: '/tmp' };
  const session = await startSession(await readSettings(surrounded), new TestClock(), runner);
  return session.run.by;
}

describe('who publishes', () => {
  it('is told by the runner, on one line', async () => {
    assert.equal(await publisherOf(surroundings), 'octo-org/tool, run 77, by octocat');
    assert.equal(await publisherOf({ GITHUB_ACTOR: 'octocat' }), 'by octocat');
  });

  it('is nobody where no runner tells, and in a run with a fixed date, which is the same whoever starts it', async () => {
    assert.equal(await publisherOf({}), undefined);
    assert.equal(await publisherOf({ ...surroundings, SOURCE_DATE_EPOCH: '1700000000' }), undefined);
  });
});

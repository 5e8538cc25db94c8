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

const bucket = {
  endpoint: 'http://127.0.0.1:1',
  bucket: 'apt',
  'access-key-id': 'a',
  'secret-access-key': 'b',
  region: 'eu-central-1',
};

async function sessionWith(inputs: Readonly<Record<string, string>>) {
  const runner = fakeRunner({ command: 'republish', suites: 'bookworm', unsigned: 'true', ...inputs }, {});
  const surrounded = { source: runner, secrets: runner.secrets, folder: '.', temporaryFolder: '/tmp' };
  return startSession(await readSettings(surrounded), new TestClock(), runner);
}

describe('how requests are let in', () => {
  it('begins with sixteen in flight, shared by all phases, and sends late requests again', async () => {
    const { run } = await sessionWith(bucket);
    assert.equal(run.requests.concurrency, 16);
    assert.equal(run.renames, run.requests);
    assert.notEqual(run.hedging, undefined);
  });

  it('obeys a number exactly, in all that it can be heard in: nothing is sent again then', async () => {
    for (const name of ['upload-concurrency', 'rename-concurrency']) {
      const { run } = await sessionWith({ ...bucket, [name]: '5' });
      const { requests, renames } = run;
      assert.deepEqual([requests, renames].map(({ concurrency }) => concurrency).toSorted(), [16, 5]);
      assert.equal(run.hedging, undefined);
    }
  });

  it('is nothing to learn in a directory', async () => {
    const { run } = await sessionWith({ bucket: './site' });
    assert.deepEqual([run.requests.concurrency, run.hedging], [16, undefined]);
  });

  it('takes the method of renaming from its input, where that names one', async () => {
    const method = async (written: string) =>
      (await sessionWith({ ...bucket, 'rename-method': written })).run.renameMethod;
    assert.deepEqual(
      [await method('put'), await method('copy'), await method('auto'), await method('')],
      ['put', 'copy', undefined, undefined],
    );
    await assert.rejects(method('move'), /rename-method/);
  });
});

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

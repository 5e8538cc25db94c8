import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseRunRecord } from '../../src/timing/parse-record.ts';
import { buildDeb } from '../debs.ts';
import { type GitHubServer, place } from '../rig/github-server.ts';
import { runProcess } from '../rig/process.ts';
import { rigCredentials, type S3Server, startS3Server } from '../rig/s3-server.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { keyText } from '../signing/fixture-keys.ts';
import { github, pullRequestEvent } from './comment-sample.ts';

const root = join(import.meta.dirname, '../..');
const secrets = {
  'access-key-id': rigCredentials.accessKeyId,
  'secret-access-key': rigCredentials.secretAccessKey,
  'gpg-private-key': keyText('ed25519'),
};

describe('the action on a pull request', () => {
  let store: S3Server;
  let hub: GitHubServer;
  let publicUrl: string;
  before(async () => {
    [store, hub] = await Promise.all([startS3Server(), github()]);
    publicUrl = store.publicUrl('apt', 'debian');
    const { code, log } = await step('push', secrets, { hello: {}, world: { Package: 'world' } });
    assert.equal(code, 0, log);
  });
  after(async () => {
    await store?.[Symbol.asyncDispose]();
    await hub?.[Symbol.asyncDispose]();
  });

  /** Runs the action from its sources as a step of a job that this event has started, with these packages to publish. */
  async function step(
    event: 'push' | 'pull_request' | 'pull_request_target',
    inputs: Readonly<Record<string, string>>,
    packages: Readonly<Record<string, Readonly<Record<string, string>>>>,
  ) {
    await using machine = await temporaryFolder();
    const file = (name: string) => join(machine.path, name);
    await Promise.all(['work', 'temp'].map((name) => mkdir(file(name))));
    await Promise.all(['output', 'summary'].map((name) => writeFile(file(name), '')));
    await writeFile(file('event.json'), JSON.stringify(event === 'push' ? {} : pullRequestEvent));
    for (const [name, fields] of Object.entries(packages)) {
      await writeFile(join(file('work'), `${name}.deb`), buildDeb({ fields }));
    }
    const given: Record<string, string> = {
      packages: '*.deb',
      suites: 'bookworm',
      bucket: 'apt',
      prefix: 'debian',
      endpoint: store.endpoint,
      'public-url': publicUrl,
      'github-token': 'workflow-token',
      ...inputs,
    };
    const env: Record<string, string> = {
      ...Object.fromEntries(Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
      GITHUB_EVENT_NAME: event,
      GITHUB_EVENT_PATH: file('event.json'),
      GITHUB_API_URL: hub.api,
      GITHUB_REPOSITORY: place.repository,
      GITHUB_RUN_ID: '100',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_OUTPUT: file('output'),
      GITHUB_STEP_SUMMARY: file('summary'),
      RUNNER_TEMP: file('temp'),
      PATH: '',
    };
    const requests = store.requests.length;
    const node = join(root, 'node_modules/.bin/node');
    const { code, stdout, stderr } = await runProcess(node, [join(root, 'src/main.ts')], { cwd: file('work'), env });
    const timings = /^timings<<(\S+)\n(.*)\n\1$/m.exec(await readFile(file('output'), 'utf8'))?.[2];
    return {
      code,
      log: `${stdout}${stderr}`,
      summary: await readFile(file('summary'), 'utf8'),
      comment: hub.comments.all.at(-1)?.body ?? '',
      record: timings === undefined ? undefined : parseRunRecord(await readFile(timings, 'utf8')),
      verbs: new Set(store.requests.slice(requests).map(({ verb }) => verb)),
    };
  }

  it('writes nothing and shows what it would publish, beside the times of the publish before', async () => {
    const seen = await step('pull_request', secrets, { hello: { Version: '2.0' } });
    assert.equal(seen.code, 0, seen.log);
    assert.deepEqual(seen.verbs, new Set(['GET']));
    assert.match(seen.log, /^Dry run: .* nothing is written/m);
    assert.match(seen.comment, /### apt-publish: would change 1 package in <code>bookworm<\/code>/);
    assert.match(seen.comment, /\| added \| <code>hello<\/code> \| <code>2&#46;0<\/code>|<code>2\.0<\/code>/);
    assert.match(seen.comment, /Time beside the publish before/);
    assert.match(seen.comment, /\| rename \| – \| [\d.]+ m?s \|/);
    assert.match(seen.summary, /^## Dry run: 1 package would change in <code>bookworm<\/code>$/m);
    assert.match(seen.summary, /^### Beside the publish before$/m);
    assert.equal(seen.record?.outcome, 'dry-run');
  });

  it('shows every conflict, fails for them, and shows what it would publish besides', async () => {
    const seen = await step('pull_request_target', secrets, {
      hello: { Description: 'other bytes' },
      world: { Package: 'world', Description: 'other bytes' },
      fresh: { Package: 'fresh' },
    });
    assert.equal(seen.code, 1);
    assert.deepEqual(seen.verbs, new Set(['GET']));
    for (const page of [seen.comment, seen.summary]) {
      assert.match(page, /would fail: Already published with other bytes and 1 more problem$/m);
      assert.match(page, /^- hello\.deb is hello 1\.0 \(amd64\), which suite bookworm already holds/m);
      assert.match(page, /^- world\.deb is world 1\.0 \(amd64\)/m);
      assert.match(page, /\| added \| <code>fresh<\/code>/);
    }
    assert.equal(seen.log.match(/^::error title=Already published with other bytes::/gm)?.length, 2);
  });

  it('of a fork, without any key, reads through the public address', async () => {
    const nothing = { 'access-key-id': '', 'secret-access-key': '', 'gpg-private-key': '' };
    const seen = await step('pull_request', nothing, { hello: { Version: '2.0' } });
    assert.equal(seen.code, 0, seen.log);
    assert.match(seen.comment, /would change 1 package in/);
    assert.match(seen.comment, /The signature of suite bookworm was not checked/);
    assert.match(seen.comment, /Time beside the publish before/);
    assert.doesNotMatch(seen.summary, /Trusted: yes/);
    const clashing = await step('pull_request', nothing, { hello: { Description: 'other bytes' } });
    assert.equal(clashing.code, 1);
    assert.match(clashing.comment, /would fail: Already published with other bytes$/m);
  });

  it('publishes where that is asked for, and never without keys', async () => {
    const refused = await step('pull_request', { 'dry-run': 'false' }, { hello: { Version: '3.0' } });
    assert.equal(refused.code, 1);
    assert.match(refused.log, /`access-key-id` is missing/);
    assert.match(refused.log, /`gpg-private-key` is missing/);
    const published = await step('pull_request', { ...secrets, 'dry-run': 'false' }, { hello: { Version: '3.0' } });
    assert.equal(published.code, 0, published.log);
    assert.match(published.comment, /published 1 package into/);
  });
});

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readSettings } from '../../src/action/inputs.ts';
import type { Settings } from '../../src/action/settings.ts';
import { type Problem, Problems } from '../../src/problem.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { type FakeRunner, fakeRunner } from './fake-runner.ts';

const minimal = { packages: 'out/*.deb', suites: 'bookworm', bucket: './site', unsigned: 'true' };
const bucket = { ...minimal, bucket: 'packages', 'access-key-id': 'AKIDEXAMPLE', 'secret-access-key': 'wJalrXUtnFEMI' };

/** Reads inputs in a workspace that holds `out/a.deb` and `out/b.deb`. */
async function read(inputs: Record<string, string>, variables: Record<string, string> = {}): Promise<Settings> {
  return readFrom(fakeRunner(inputs, variables));
}

async function readFrom(runner: FakeRunner): Promise<Settings> {
  await using workspace = await temporaryFolder();
  await mkdir(join(workspace.path, 'out'));
  for (const name of ['b.deb', 'a.deb']) await writeFile(join(workspace.path, 'out', name), name);
  const folder = workspace.path;
  const settings = await readSettings({ source: runner, secrets: runner.secrets, folder, temporaryFolder: '/tmp' });
  return JSON.parse(JSON.stringify(settings).replaceAll(folder, '.'));
}

/** The faults of these inputs. */
async function faults(inputs: Record<string, string>, variables: Record<string, string> = {}): Promise<Problem[]> {
  const error = await read(inputs, variables).then(
    () => assert.fail('the inputs were taken'),
    (thrown: unknown) => thrown,
  );
  return error instanceof Problems ? [...error.all] : [error as Problem];
}

async function onlyFault(inputs: Record<string, string>, variables: Record<string, string> = {}): Promise<string> {
  const found = await faults(inputs, variables);
  assert.deepEqual(found.slice(1), []);
  return found[0]?.message ?? '';
}

describe('the inputs', () => {
  it('have defaults, so that four of them are enough', async () => {
    assert.deepEqual(await read(minimal), {
      request: {
        command: 'publish',
        suites: [{ suite: 'bookworm', uploads: [{ component: 'main', paths: ['./out/a.deb', './out/b.deb'] }] }],
        release: {},
        allowReleaseInfoChange: false,
        adopt: false,
        compression: ['gz', 'xz'],
        contents: false,
        onConflict: 'error',
        renameConcurrency: 'auto',
        uploadConcurrency: 'auto',
        requireConditionalWrites: false,
        dryRun: false,
      },
      store: { kind: 'directory', path: './site' },
      signing: 'unsigned',
      comment: { when: 'auto' },
      temporaryFolder: '/tmp',
    });
  });

  it('reach the request as values, not as strings', async () => {
    const { request, publicUrl } = await read({
      ...minimal,
      architectures: 'arm64, amd64\namd64',
      origin: 'Example',
      label: 'Packages',
      codename: 'bookworm',
      description: 'All of them',
      version: '12',
      'valid-for': '7d',
      'not-automatic': 'TRUE',
      'but-automatic-upgrades': 'True',
      'signed-by': `${'a'.repeat(40)}, ${'B'.repeat(40)}!`,
      'allow-release-info-change': 'true',
      adopt: 'true',
      'keep-versions': '3',
      'keep-days': '30',
      compression: 'zst gz',
      contents: 'true',
      'on-conflict': 'replace',
      'rename-concurrency': '16',
      'upload-concurrency': '1',
      'require-conditional-writes': 'true',
      'dry-run': 'true',
      'public-url': 'https://apt.example.org/debian/',
    });
    assert.deepEqual(request, {
      command: 'publish',
      suites: [{ suite: 'bookworm', uploads: [{ component: 'main', paths: ['./out/a.deb', './out/b.deb'] }] }],
      release: {
        origin: 'Example',
        label: 'Packages',
        codename: 'bookworm',
        description: 'All of them',
        version: '12',
        validForSeconds: 604_800,
        notAutomatic: true,
        butAutomaticUpgrades: true,
        signedBy: ['A'.repeat(40), `${'B'.repeat(40)}!`],
      },
      allowReleaseInfoChange: true,
      adopt: true,
      keepVersions: 3,
      keepDays: 30,
      architectures: ['amd64', 'arm64'],
      compression: ['gz', 'zst'],
      contents: true,
      onConflict: 'replace',
      renameConcurrency: 16,
      uploadConcurrency: 1,
      requireConditionalWrites: true,
      dryRun: true,
    });
    assert.equal(publicUrl, 'https://apt.example.org/debian');
  });

  it('tell all their faults at once', async () => {
    const found = await faults({
      contents: 'yes',
      'valid-for': 'a week',
      packages: 'none/*.deb',
      suites: 'a//b\n../up',
    });
    const named = ['bucket', 'gpg-private-key', 'a//b', '../up', 'none/*.deb', 'valid-for', 'contents'];
    assert.equal(found.length, named.length, found.map(({ message }) => message).join('\n'));
    for (const [index, name] of named.entries()) assert.ok(found[index]?.what.includes(name), `no fault names ${name}`);
  });

  it('have titles that fit an annotation', async () => {
    const long = { ...minimal, 'require-conditional-writes': 'x', 'allow-release-info-change': 'x' };
    for (const { title } of await faults(long)) assert.ok(title.length <= 60, title);
  });

  const booleans = ['contents', 'not-automatic', 'but-automatic-upgrades', 'require-conditional-writes'];
  for (const name of [...booleans, 'allow-release-info-change', 'force-path-style', 'unsigned']) {
    it(`refuse a spelling of \`${name}\` that is neither true nor false`, async () => {
      const withKey = { 'gpg-private-key': 'key', ...bucket, [name]: 'yes' };
      if (name !== 'unsigned') Reflect.deleteProperty(withKey, 'gpg-private-key');
      assert.match(await onlyFault(withKey), new RegExp(`\`${name}\` is "yes", which is neither`));
    });
  }

  const refused: readonly (readonly [name: string, value: string, says: RegExp])[] = [
    ['on-conflict', 'overwrite', /"overwrite", which it does not know\. Write one of `error`, `skip`, `replace`/],
    ['dry-run', 'yes', /"yes", which is none of `auto`, `true` and `false`/],
    ['comment', 'true', /"true", which it does not know\. Write one of `auto`, `always`, `never`/],
    ['command', 'delete', /"delete", which it does not know\. Write one of `publish`, `republish`/],
    ['keep-versions', '0', /no whole number from 1 up/],
    ['keep-days', '1.5', /no whole number from 1 up/],
    ['keep-versions', 'all', /no whole number from 1 up/],
    ['rename-concurrency', '0', /no whole number from 1 to 512/],
    ['upload-concurrency', '1.5', /no whole number from 1 to 512/],
    ['upload-concurrency', '9999', /no whole number from 1 to 512/],
    ['valid-for', '0d', /no duration/],
    ['valid-for', '7', /no duration.*`12h`/],
    ['valid-for', '4000d', /no duration/],
    ['architectures', 'amd64 all', /"all", which is no architecture/],
    ['architectures', 'AMD64', /"AMD64", which is no architecture/],
    ['compression', 'gz bz2', /"bz2", which is no form/],
    ['origin', 'two\nlines', /control character/],
    ['codename', 'book worm', /has a blank/],
    ['component', '../main', /two dots in a row/],
    ['component', 'binary-amd64', /named like a folder inside a suite/],
    ['signed-by', 'ABCD', /no fingerprint of 40/],
    ['gpg-fingerprint', 'not hex', /neither a fingerprint of 40 nor a key id of 16/],
    ['public-url', 'apt.example.org', /no plain http, https or file address/],
    ['public-url', 'https://user:pw@example.org', /no plain http, https or file address/],
  ];
  for (const [name, value, says] of refused) {
    it(`refuse ${JSON.stringify(value)} for \`${name}\` and say what to write`, async () => {
      const signed: Record<string, string> =
        name === 'gpg-fingerprint' ? { 'gpg-private-key': 'key', unsigned: 'false' } : {};
      assert.match(await onlyFault({ ...minimal, ...signed, [name]: value }), says);
    });
  }

  it('refuse automatic upgrades of what is automatic anyway', async () => {
    const message = await onlyFault({ ...minimal, 'not-automatic': 'false', 'but-automatic-upgrades': 'true' });
    assert.match(message, /only together/);
  });

  it('refuse a SOURCE_DATE_EPOCH that is no number, and take one that is', async () => {
    assert.match(await onlyFault(minimal, { SOURCE_DATE_EPOCH: 'now' }), /variable `SOURCE_DATE_EPOCH` is "now"/);
    assert.equal((await read(minimal, { SOURCE_DATE_EPOCH: '1700000000' })).sourceDateEpoch, 1_700_000_000);
  });

  it('never show a control character or an endless value in a message', async () => {
    const message = await onlyFault({ ...minimal, 'on-conflict': `\u001b[31m${'x'.repeat(5000)}` });
    assert.ok(message.length < 400);
    assert.doesNotMatch(message, /\p{Cc}/u);
  });
});

describe('the key of the signatures', () => {
  it('is needed unless the user asks for an unsigned repository', async () => {
    assert.match(
      await onlyFault({ ...minimal, unsigned: '' }),
      /`gpg-private-key` is missing or empty.*`unsigned: true`/s,
    );
  });

  it('contradicts an unsigned repository', async () => {
    const found = await faults({ ...minimal, 'gpg-private-key': 'key', 'gpg-passphrase': 'phrase' });
    assert.deepEqual(
      found.map(({ title }) => title),
      ['The input gpg-private-key is not valid', 'The input gpg-passphrase is not valid'],
    );
  });

  it('is chosen by a fingerprint as gpg prints it', async () => {
    const printed = '0123 4567 89AB CDEF 0123  4567 89ab cdef 0123 4567!';
    const { signing } = await read({ ...minimal, unsigned: '', 'gpg-private-key': 'key', 'gpg-fingerprint': printed });
    assert.deepEqual(signing, { keys: 'key', fingerprint: '0123456789ABCDEF0123456789ABCDEF01234567!' });
  });
});

describe('secrets', () => {
  it('are masked whole and line by line before a fault can show them', async () => {
    const armor =
      '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlineonelineone\nlinetwolinetwo\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----';
    const runner = fakeRunner(
      {
        ...bucket,
        unsigned: '',
        contents: 'maybe',
        'gpg-private-key': armor,
        'gpg-passphrase': 'open sesame',
        'session-token': 'tokentoken',
      },
      { AWS_SECRET_ACCESS_KEY: 'fromenvironment', AWS_SESSION_TOKEN: 'tokenfromenvironment' },
    );
    await assert.rejects(readFrom(runner), /`contents`/);
    for (const secret of [
      armor,
      'lineonelineone',
      'linetwolinetwo',
      'open sesame',
      'wJalrXUtnFEMI',
      'tokentoken',
      'fromenvironment',
      'tokenfromenvironment',
    ]) {
      assert.ok(runner.masked.includes(secret), `not masked: ${secret}`);
      assert.equal(runner.secrets.redact(`before ${secret} after`), 'before *** after');
    }
    assert.equal(
      runner.secrets.redact('-----BEGIN PGP PRIVATE KEY BLOCK-----'),
      '-----BEGIN PGP PRIVATE KEY BLOCK-----',
    );
  });

  it('are not in the message that refuses an address with a password in it', async () => {
    const message = await onlyFault({ ...bucket, endpoint: 'https://me:hunter22@s3.example.org' });
    assert.match(message, /`endpoint` has a user name or a password/);
    assert.doesNotMatch(message, /hunter22/);
  });
});

describe('a dry run', () => {
  const dryRunOf = async (event: string, inputs: Record<string, string> = {}) => {
    const { request } = await read({ ...minimal, ...inputs }, { GITHUB_EVENT_NAME: event });
    return 'dryRun' in request ? request.dryRun : undefined;
  };

  it('is the default on pull requests, and nowhere else', async () => {
    for (const event of ['pull_request', 'pull_request_target']) assert.equal(await dryRunOf(event), true, event);
    for (const event of ['push', 'workflow_run', 'schedule']) assert.equal(await dryRunOf(event), false, event);
    assert.equal(await dryRunOf('pull_request', { 'dry-run': 'auto' }), true);
    assert.equal(await dryRunOf('pull_request', { 'dry-run': 'false' }), false);
    assert.equal(await dryRunOf('push', { 'dry-run': 'True' }), true);
  });

  it('needs no key to sign with, and a publish does', async () => {
    const { unsigned: _, ...signed } = minimal;
    const event = { GITHUB_EVENT_NAME: 'pull_request' };
    assert.equal((await read(signed, event)).signing, 'no-key');
    assert.deepEqual((await read({ ...signed, 'gpg-private-key': 'key' }, event)).signing, { keys: 'key' });
    assert.match(await onlyFault({ ...signed, 'dry-run': 'false' }, event), /`gpg-private-key` is missing/);
  });
});

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { ClosingCounts } from '../faults/closing-counts.ts';
import { place, startGitHub } from '../rig/github-server.ts';
import { workflowBot } from '../rig/github-server-comments.ts';
import { closeServer, listenLocally } from '../rig/listener.ts';
import type { FaultAction } from '../rig/s3-faults.ts';
import type { S3Request } from '../rig/s3-request.ts';
import { type S3Server, startS3Server } from '../rig/s3-server.ts';
import { type Form, markedSecrets } from './marked.ts';
import { type Observed, observe } from './observed-run.ts';

const marked = await markedSecrets();
const { accessKeyId, secretAccessKey, sessionToken, githubToken, passphrase, privateKey, forms } = marked;

const inputs = {
  packages: '*.deb',
  suites: 'bookworm',
  component: 'main',
  bucket: 'apt',
  region: 'us-east-1',
  compression: 'gz',
  comment: 'always',
  contents: 'true',
  site: 'true',
  trace: 'trace.json',
  'public-url': 'https://apt.example.org',
  'access-key-id': accessKeyId,
  'secret-access-key': secretAccessKey,
  'session-token': sessionToken,
  'gpg-private-key': privateKey,
  'gpg-passphrase': passphrase,
  'github-token': githubToken,
} as const;

/** What answers says again what it was asked, as real servers do in messages about signatures. */
function echo(request: S3Request): FaultAction {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const html = `<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>It does not match: ${headers.join(', ')}</Message><AWSAccessKeyId>${accessKeyId}</AWSAccessKeyId><StringToSign>${sessionToken} ${secretAccessKey}</StringToSign></Error>`;
  return { do: 'page', status: 403, html };
}

let store: S3Server;
/** In the place of api.github.com: refuses everything, and says whom. */
const github = createServer((request, response) => {
  response.writeHead(401, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ message: `Bad credentials: ${request.headers.authorization}` }));
});
let apiUrl = '';
before(async () => {
  store = await startS3Server({ credentials: [{ accessKeyId, secretAccessKey, sessionToken }] });
  apiUrl = await listenLocally(github);
});
after(async () => {
  await store[Symbol.asyncDispose]();
  await closeServer(github);
});

const counts = new ClosingCounts();
let runs = 0;

/** One run into a new prefix, with what is different about it. */
function run(
  changes: Readonly<Record<string, string>> = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<Observed> {
  runs += 1;
  return observe(
    { ...inputs, endpoint: store.endpoint, prefix: `run-${runs}`, ...changes },
    { GITHUB_API_URL: apiUrl, GITHUB_REPOSITORY: 'example/repository', ...variables },
  );
}

function leaks(text: string): string[] {
  return forms.filter((form: Form) => text.includes(form.text)).map(({ of, as }) => `${of} as ${as}`);
}

function assertNothingSeen({ seen }: Observed): void {
  assert.ok((seen.get('command lines') ?? '').includes('main.ts'), 'its command line was seen');
  counts.add('runs watched');
  for (const [where, text] of seen) {
    const found = leaks(text);
    counts.add('secrets seen', found.length);
    assert.deepEqual(found, [], `in ${where}:\n${text.slice(0, 4000)}`);
  }
}

test('the search finds every form of every secret inside other text', () => {
  for (const form of forms) {
    assert.ok(form.text.length >= 12, `${form.of} as ${form.as} is long enough to be no accident`);
    assert.ok(leaks(`before ${form.text} after`).includes(`${form.of} as ${form.as}`));
  }
  const inside = Buffer.from(`{"password":"${secretAccessKey}"}`).toString('base64');
  assert.ok(leaks(inside).includes('secretAccessKey as base64'), 'in the middle of something encoded');
  const names = new Set(forms.map(({ of }) => of));
  assert.equal(names.size, 7, [...names].join());
});

describe('no secret is seen', () => {
  test('in anything that a run writes which publishes, nor in the store', async () => {
    const observed = await run();
    assert.equal(observed.code, 0, observed.stdout);
    assert.match(observed.seen.get('output') ?? '', /PGP PUBLIC KEY BLOCK/);
    assert.ok([...observed.seen.keys()].some((name) => name.endsWith('run.json')));
    assert.match(observed.seen.get('step_summary') ?? '', /hello/);
    assert.match(observed.seen.get('work/trace.json') ?? '', /"ph"/);
    assert.match(observed.seen.get('work/trace.otlp.jsonl') ?? '', /resourceSpans/);
    assertNothingSeen(observed);
    const bucket = store.objects('apt');
    const keys = [...bucket.keys()];
    assert.ok(keys.length > 5 && keys.some((key) => key.endsWith('index.html')));
    for (const key of keys) {
      const object = bucket.get(key);
      assert.ok(object !== undefined);
      assert.deepEqual(leaks(`${key} ${Buffer.from(object.body).toString('latin1')}`), [], key);
    }
  });

  for (const [phase, selects] of [
    ['read', ({ verb, key }) => verb === 'GET' && key.endsWith('bookworm.json')],
    ['upload', ({ verb, key }) => verb === 'PUT' && key.includes('/pool/')],
    ['stage', ({ verb, key }) => verb === 'PUT' && key.includes('/by-hash/')],
    ['claim', ({ verb, key }) => verb === 'PUT' && key.endsWith('bookworm.json')],
    ['rename', ({ verb, key }) => verb === 'PUT' && key.endsWith('/binary-amd64/Packages.gz')],
    ['commit', ({ verb, key }) => verb === 'PUT' && key.endsWith('/InRelease')],
  ] as const satisfies readonly (readonly [string, (request: S3Request) => boolean])[]) {
    test(`where the store repeats what it was sent and the run fails in ${phase}`, async () => {
      using _ = store.intercept((request) => (selects(request) ? echo(request) : undefined));
      const observed = await run();
      assert.equal(observed.code, 1, observed.stdout);
      assert.match(observed.stdout, /^::error title=/m);
      assert.match(observed.stdout, /^::debug::/m);
      assertNothingSeen(observed);
    });
  }

  for (const [what, changes, words] of [
    [
      'the secret access key is wrong',
      { 'secret-access-key': `${secretAccessKey.slice(1)}x` },
      /secret|signature|key/i,
    ],
    ['the passphrase is wrong', { 'gpg-passphrase': `${passphrase.slice(1)}x` }, /passphrase/],
    ['the passphrase is missing', { 'gpg-passphrase': '' }, /passphrase/],
    ['the key is cut off', { 'gpg-private-key': privateKey.slice(0, 500) }, /gpg-private-key/],
    [
      'the key came on one line',
      { 'gpg-private-key': privateKey.replaceAll('\n', ' '), 'gpg-passphrase': 'no' },
      /passphrase/,
    ],
    [
      'the address holds the secret',
      { endpoint: `https://${accessKeyId}:${encodeURIComponent(secretAccessKey)}@s3.example.org` },
      /endpoint/,
    ],
    ['a key is given to an unsigned repository', { unsigned: 'true' }, /unsigned/],
  ] as const satisfies readonly (readonly [string, Record<string, string>, RegExp])[]) {
    test(`where ${what}`, async () => {
      const observed = await run(changes);
      assert.equal(observed.code, 1, observed.stdout);
      assert.match(observed.stdout, /^::error title=/m);
      assert.match(observed.stdout, words);
      assertNothingSeen(observed);
    });
  }

  const event = new URL('event.json', import.meta.url).pathname;
  const onPullRequest = { GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: event, GITHUB_RUN_ID: '100' };

  test('in the comment on a pull request', async () => {
    await using commented = await startGitHub({
      tokens: { [githubToken]: { account: workflowBot, pullRequests: 'write' } },
    });
    const observed = await run(
      {},
      { ...onPullRequest, GITHUB_API_URL: commented.api, GITHUB_REPOSITORY: place.repository },
    );
    assert.equal(observed.code, 0, observed.stdout);
    const bodies = commented.comments.all.map(({ body }) => body);
    assert.match(bodies.join('\n'), /bookworm/);
    assertNothingSeen({ ...observed, seen: new Map([...observed.seen, ['comment', bodies.join('\n')]]) });
  });

  test('where GitHub refuses the token and repeats it', async () => {
    const observed = await run({}, onPullRequest);
    assert.equal(observed.code, 0, observed.stdout);
    assertNothingSeen(observed);
  });

  test('where the action itself has a defect and shows its stack', async () => {
    const observed = await run({}, { RUNNER_TEMP: '/proc/none' });
    assert.equal(observed.code, 1, observed.stdout);
    assert.match(observed.stdout, /This is a defect of apt-publish/);
    assertNothingSeen(observed);
  });
});

test('every secret is masked before anything else is said', async () => {
  const { stdout } = await run({ 'on-conflict': 'maybe' });
  const masks = [...stdout.matchAll(/^::add-mask::(.*)$/gm)].map(([, mask = '']) => mask.replaceAll('%25', '%'));
  for (const secret of [secretAccessKey, sessionToken, passphrase, githubToken]) assert.ok(masks.includes(secret));
  for (const line of privateKey.split(/\r?\n/).filter((text) => /^[A-Za-z0-9+/=]{40,}$/.test(text))) {
    assert.ok(masks.includes(line), 'each line of the key');
  }
  const firstWord = stdout.search(/^(?!::add-mask::|$)/m);
  assert.equal(stdout.indexOf('::add-mask::', firstWord), -1, 'nothing is masked after something was said');
});

test('how many runs were watched', (t) => t.diagnostic(`${counts}`));

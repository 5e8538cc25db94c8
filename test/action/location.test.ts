import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InputReader } from '../../src/action/input-reader.ts';
import { readDryLocation, readLocation } from '../../src/action/location.ts';
import type { StoreLocation } from '../../src/action/settings.ts';
import { fakeRunner } from './fake-runner.ts';

const keys = { 'access-key-id': 'id', 'secret-access-key': 'secret' };
const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };

interface Read {
  readonly location: StoreLocation | undefined;
  readonly faults: readonly string[];
}

function read(inputs: Record<string, string>, variables: Record<string, string> = {}): Read {
  const runner = fakeRunner(inputs, variables);
  const reader = new InputReader(runner, runner.secrets);
  const location = readLocation(reader);
  return { location, faults: reader.faults.map(({ message }) => message) };
}

function located(inputs: Record<string, string>, variables: Record<string, string> = {}): StoreLocation | undefined {
  const { location, faults } = read(inputs, variables);
  assert.deepEqual(faults, []);
  return location;
}

describe('the place of a repository', () => {
  const folders = [
    ['./site', './site'],
    ['.', '.'],
    ['../site', '../site'],
    ['/srv/apt', '/srv/apt'],
    ['file:///srv/apt', '/srv/apt'],
    ['file://localhost/srv/apt', '/srv/apt'],
    ['file:site', 'site'],
  ] as const;
  for (const [written, path] of folders) {
    it(`is the folder ${path} for \`${written}\``, () => {
      assert.deepEqual(located({ bucket: written }), { kind: 'directory', path });
    });
  }

  const buckets = [
    [{ bucket: 'packages' }, 'packages', ''],
    [{ bucket: 'packages', prefix: '/debian/stable/' }, 'packages', 'debian/stable'],
    [{ bucket: 's3://packages' }, 'packages', ''],
    [{ bucket: 's3://packages/' }, 'packages', ''],
    [{ bucket: 's3://packages/debian/' }, 'packages', 'debian'],
    [{ bucket: 's3://packages', prefix: 'debian' }, 'packages', 'debian'],
  ] as const;
  for (const [inputs, bucket, prefix] of buckets) {
    it(`is the bucket ${bucket} with the prefix "${prefix}" for ${JSON.stringify(inputs)}`, () => {
      assert.deepEqual(located({ ...inputs, ...keys }), {
        kind: 's3',
        bucket,
        prefix,
        forcePathStyle: false,
        credentials,
      });
    });
  }

  const refused: readonly (readonly [inputs: Record<string, string>, says: RegExp])[] = [
    [{ bucket: 'packages/debian' }, /`bucket` is "packages\/debian", which is neither/],
    [{ bucket: 'https://packages.s3.amazonaws.com' }, /`bucket` is "https:.*s3:\/\/my-packages/],
    [{ bucket: 'a' }, /`bucket` is "a", which is neither/],
    [{ bucket: 's3://packages/a//b' }, /`bucket` has the prefix "a\/\/b"/],
    [{ bucket: 'packages', prefix: '../other' }, /`prefix` has the prefix "\.\.\/other"/],
    [{ bucket: 's3://packages/a', prefix: 'b' }, /`prefix` is "b" while `bucket` has the prefix "a"/],
    [{ bucket: 'packages', region: 'eu central' }, /`region` is "eu central"/],
    [{ bucket: 'packages', endpoint: 's3.example.org' }, /`endpoint` is "s3\.example\.org", which is no http/],
    [{ bucket: 'packages', endpoint: 'https://s3.example.org/?x=1' }, /`endpoint` is/],
  ];
  for (const [inputs, says] of refused) {
    it(`is refused for ${JSON.stringify(inputs)}`, () => {
      const { faults } = read({ ...inputs, ...keys });
      assert.equal(faults.length, 1, faults.join('\n'));
      assert.match(faults.join(), says);
    });
  }

  it('is refused for a file address of another machine', () => {
    assert.match(read({ bucket: 'file://server/apt' }).faults.join(), /no path on this machine/);
  });

  it('as a folder takes none of the inputs that only a bucket has', () => {
    const { faults } = read({ bucket: './site', prefix: 'p', endpoint: 'https://s3.example.org', region: 'r' });
    assert.deepEqual(
      faults.map((fault) => fault.split('`')[1]),
      ['prefix', 'endpoint', 'region'],
    );
  });

  it('as a folder does not mind what the environment says about buckets', () => {
    const environment = { AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL: 'nonsense', AWS_ACCESS_KEY_ID: 'id' };
    assert.deepEqual(located({ bucket: './site' }, environment), { kind: 'directory', path: './site' });
  });
});

describe('the service of a bucket', () => {
  it('comes from the environment where the inputs are silent, the S3 address before the general one', () => {
    const location = located(
      { bucket: 'packages', ...keys },
      {
        AWS_REGION: 'eu-west-1',
        AWS_DEFAULT_REGION: 'us-west-2',
        AWS_ENDPOINT_URL: 'https://general.example.org',
        AWS_ENDPOINT_URL_S3: 'https://s3.example.org/',
      },
    );
    assert.deepEqual(location, {
      kind: 's3',
      bucket: 'packages',
      prefix: '',
      endpoint: 'https://s3.example.org',
      region: 'eu-west-1',
      forcePathStyle: true,
      credentials,
    });
  });

  it('is named by the variable that a faulty address came from', () => {
    const { faults } = read({ bucket: 'packages', ...keys }, { AWS_ENDPOINT_URL: 'nonsense' });
    assert.match(faults.join(), /^The variable `AWS_ENDPOINT_URL` is "nonsense"/);
  });

  it('is addressed as the user says', () => {
    const addressed = { bucket: 'packages', endpoint: 'https://s3.example.org/storage/v1/s3', ...keys };
    const location = located({ ...addressed, 'force-path-style': 'false' });
    assert.ok(location?.kind === 's3' && !location.forcePathStyle);
    assert.equal(location.endpoint, 'https://s3.example.org/storage/v1/s3');
  });
});

describe('the keys of a bucket', () => {
  const environment = { AWS_ACCESS_KEY_ID: 'eid', AWS_SECRET_ACCESS_KEY: 'esecret', AWS_SESSION_TOKEN: 'etoken' };

  it('come from the environment where the inputs are silent', () => {
    const location = located({ bucket: 'packages' }, environment);
    assert.ok(location?.kind === 's3');
    assert.deepEqual(location.credentials, { accessKeyId: 'eid', secretAccessKey: 'esecret', sessionToken: 'etoken' });
  });

  it('are never mixed: keys of the inputs leave the session token of the environment aside', () => {
    const location = located({ bucket: 'packages', ...keys }, environment);
    assert.ok(location?.kind === 's3');
    assert.deepEqual(location.credentials, credentials);
  });

  it('are missing when only half of them are given, whatever the environment has', () => {
    const { faults } = read({ bucket: 'packages', 'access-key-id': 'id' }, environment);
    assert.match(faults.join(), /`secret-access-key` is missing while other keys/);
  });

  it('are missing when nobody gives them', () => {
    assert.match(read({ bucket: 'packages' }).faults.join(), /`access-key-id` is missing\..*configure-aws-credentials/);
  });
});

describe('the place where a dry run reads', () => {
  const url = 'https://apt.example.org';
  const readDry = (inputs: Record<string, string>, variables: Record<string, string> = {}, publicUrl = url) => {
    const runner = fakeRunner(inputs, variables);
    const reader = new InputReader(runner, runner.secrets);
    const location = readDryLocation(reader, publicUrl);
    return { kind: location?.kind, faults: reader.faults.map(({ message }) => message).join() };
  };

  it('is the public address of a bucket that no key is given for', () => {
    assert.deepEqual(readDry({ bucket: 'packages' }), { kind: 'public', faults: '' });
    assert.equal(readDry({ bucket: 'packages', ...keys }).kind, 's3');
    assert.equal(readDry({ bucket: 'packages' }, { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }).kind, 's3');
    assert.equal(readDry({ bucket: './site' }).kind, 'directory');
  });

  it('is none without an address for http, and half a key is as wrong as ever', () => {
    assert.match(readDry({ bucket: 'packages' }, {}, 'file:///srv').faults, /is missing.*dry run.*`public-url`/);
    assert.match(readDry({ bucket: 'packages', 'access-key-id': 'id' }).faults, /`secret-access-key` is missing/);
    assert.match(readDry({}).faults, /`bucket` is missing/);
  });
});

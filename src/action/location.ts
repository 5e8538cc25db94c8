import type { InputReader } from './input-reader.ts';
import { hasControlCharacter, quoted } from './input-reader.ts';
import type { Credentials, PublicLocation, StoreLocation } from './settings.ts';

/** Reads where the repository lives. Undefined when that has a fault, which the reader then knows. */
export function readLocation(reader: InputReader): StoreLocation | undefined {
  const written = reader.text('bucket');
  if (written === undefined) {
    return reader.fault('bucket', {
      what: 'is missing.',
      advice:
        'Write a bucket such as `bucket: my-packages` or `bucket: s3://my-packages/debian`, or a folder such as `bucket: ./site`.',
    });
  }
  return isFolder(written) ? directoryLocation(reader, written) : bucketLocation(reader, written);
}

/** Where a dry run sees the repository: a bucket without keys is read at its public address, where that is one for http. */
export function readDryLocation(
  reader: InputReader,
  publicUrl: string | undefined,
): StoreLocation | PublicLocation | undefined {
  const written = reader.text('bucket');
  const isBucket = written !== undefined && !isFolder(written);
  if (!isBucket || publicUrl === undefined || !/^https?:/.test(publicUrl) || hasKeys(reader))
    return readLocation(reader);
  return { kind: 'public', url: publicUrl };
}

/** `./site`, `../site`, `/srv/site` and `file:` addresses are folders; everything else is meant to be a bucket. */
function directoryPath(written: string): string | undefined {
  if (/^(?:\.{0,2}\/|\.{1,2}$)/.test(written)) return written;
  const [, address] = /^file:(.*)$/s.exec(written) ?? [];
  return address?.replace(/^\/\/(?:localhost)?(?=\/)/, '');
}

/** Whether an address is that of a folder. */
export function isFolder(written: string): boolean {
  return directoryPath(written) !== undefined;
}

function directoryLocation(reader: InputReader, written: string): StoreLocation | undefined {
  for (const name of ['prefix', 'endpoint', 'region', 'force-path-style']) {
    if (reader.text(name) === undefined) continue;
    reader.fault(name, {
      what: `means nothing for a folder, and \`bucket\` is the folder ${quoted(written)}.`,
      advice: `Remove \`${name}\`, or write the name of a bucket in \`bucket\`.`,
    });
  }
  return readFolder(reader, 'bucket', written);
}

/** The folder that an input names. */
export function readFolder(reader: InputReader, input: string, written: string): StoreLocation | undefined {
  const path = directoryPath(written) ?? '';
  if (path === '' || path.startsWith('//') || hasControlCharacter(path)) {
    return reader.fault(input, {
      what: `is ${quoted(path)} after \`file:\`, which is no path on this machine.`,
      advice: 'Write a path such as `./site` or an address such as `file:///srv/apt`.',
    });
  }
  return { kind: 'directory', path };
}

function bucketLocation(reader: InputReader, written: string): StoreLocation | undefined {
  const [bucket, ...rest] = written.replace(/^s3:\/\//, '').split('/');
  const inBucket = rest.join('/');
  const prefix = reader.text('prefix');
  // The naming rules that stores agree on; older and self-hosted ones also allow capitals and underscores.
  if (
    bucket === undefined ||
    !/^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/.test(bucket) ||
    (inBucket !== '' && !written.startsWith('s3://'))
  ) {
    reader.fault('bucket', {
      what: `is ${quoted(written)}, which is neither the name of a bucket nor a folder.`,
      advice:
        'Write a name such as `my-packages`, an address such as `s3://my-packages/debian`, or a folder such as `./site`.',
    });
  }
  if (inBucket !== '' && prefix !== undefined) {
    reader.fault('prefix', {
      what: `is ${quoted(prefix)} while \`bucket\` has the prefix ${quoted(inBucket)} already.`,
      advice: 'Write the prefix in one of the two.',
    });
  }
  const endpoint = readEndpoint(reader);
  const region = readRegion(reader);
  const repository = readPrefix(reader, inBucket === '' ? 'prefix' : 'bucket', prefix ?? inBucket);
  const forcePathStyle = reader.boolean('force-path-style') ?? endpoint !== undefined;
  const credentials = readCredentials(reader);
  if (bucket === undefined || repository === undefined || credentials === undefined) return undefined;
  return {
    kind: 's3',
    bucket,
    prefix: repository,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    forcePathStyle,
    credentials,
  };
}

/** A path inside a bucket, without slashes at its ends. */
export function readPrefix(reader: InputReader, name: string, written: string): string | undefined {
  const prefix = written.replace(/^\/|\/$/g, '');
  const parts = prefix.split('/');
  const faulty = prefix !== '' && parts.some((part) => part === '' || part === '.' || part === '..');
  if (!faulty && !hasControlCharacter(prefix)) return prefix;
  return reader.fault(name, {
    what: `has the prefix ${quoted(written)}, which is no path inside a bucket.`,
    advice: 'Write the names of folders with one slash between two of them, for example `debian/stable`.',
  });
}

function readRegion(reader: InputReader): string | undefined {
  const written = reader.textOrVariable('region', ['AWS_REGION', 'AWS_DEFAULT_REGION']);
  if (written === undefined || /^[A-Za-z0-9-]+$/.test(written.value)) return written?.value;
  return reader.fault(written.name, {
    what: `is ${quoted(written.value)}, which is no name of a region.`,
    advice: 'Write a region such as `eu-central-1`, or `auto` for Cloudflare R2.',
  });
}

function readEndpoint(reader: InputReader): string | undefined {
  const written = reader.textOrVariable('endpoint', ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL']);
  if (written === undefined) return undefined;
  const url = URL.canParse(written.value) ? new URL(written.value) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    return reader.fault(written.name, {
      what: 'has a user name or a password in it.',
      advice: 'Write the bare address, and the keys in `access-key-id` and `secret-access-key`.',
    });
  }
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') {
    return url.href.replace(/\/+$/, '');
  }
  return reader.fault(written.name, {
    what: `is ${quoted(written.value)}, which is no http or https address.`,
    advice: 'Write the address of the S3 service without the bucket, for example `https://s3.example.org`.',
  });
}

function hasKeys(reader: InputReader): boolean {
  return (
    ['access-key-id', 'secret-access-key', 'session-token'].some((name) => reader.text(name) !== undefined) ||
    ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'].some(
      (name) => reader.variable(name) !== undefined,
    )
  );
}

/**
 * A key, its secret and its session token belong together, so all come from the inputs or all from the environment: a key from one place
 * with a left-over session token from the other is refused by every store, with a message that helps nobody.
 */
function readCredentials(reader: InputReader): Credentials | undefined {
  const own = {
    accessKeyId: reader.text('access-key-id'),
    secretAccessKey: reader.secret('secret-access-key'),
    sessionToken: reader.secret('session-token'),
  };
  const fromEnvironment = {
    accessKeyId: reader.variable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: reader.secretVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: reader.secretVariable('AWS_SESSION_TOKEN'),
  };
  const givenAsInputs = Object.values(own).some((value) => value !== undefined);
  const { accessKeyId, secretAccessKey, sessionToken } = givenAsInputs ? own : fromEnvironment;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  }
  const missing = accessKeyId === undefined ? 'access-key-id' : 'secret-access-key';
  return reader.fault(missing, {
    what: givenAsInputs ? 'is missing while other keys of the store are given.' : 'is missing.',
    advice: `Write \`${missing}: \${{ secrets.… }}\` beside the others, or give none and let aws-actions/configure-aws-credentials set the environment; a dry run without any reads through \`public-url\`.`,
  });
}

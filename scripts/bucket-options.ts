import { version } from '../src/action/version.ts';
import { S3Store } from '../src/store/s3.ts';

/** What the scripts that look at a bucket are told on their command line, for `parseArgs`. */
export const bucketOptions = {
  endpoint: { type: 'string' },
  region: { type: 'string' },
  bucket: { type: 'string' },
} as const;

/** The bucket they mean. The keys come from the environment, as the AWS tools have them, and never from the command line. */
export function openBucket(named: {
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
}): S3Store {
  const { bucket, prefix, endpoint, region } = named;
  const sessionToken = process.env['AWS_SESSION_TOKEN'];
  return new S3Store({
    bucket,
    prefix,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    forcePathStyle: endpoint !== undefined,
    credentials: {
      accessKeyId: process.env['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
    version,
  });
}

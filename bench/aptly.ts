import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bucket, Laboratory } from './laboratory.ts';
import { type Observed, observe } from './observed-process.ts';

/** One aptly with a database of its own, publishing to one prefix of a bucket. */
export interface Aptly {
  /** From now on the store is reached this way; what is published stays the same. */
  reach(endpoint: string): Promise<void>;
  createRepository(distribution: string): Promise<void>;
  /** Adds .deb files, or folders of them, to the local repository of a distribution. */
  add(distribution: string, ...paths: string[]): Promise<Observed>;
  /** The first publish of a distribution. */
  publish(distribution: string): Promise<Observed>;
  update(distribution: string): Promise<Observed>;
}

export interface AptlySettings {
  readonly name: string;
  readonly bucket: Bucket;
  readonly contents: boolean;
}

/** Set up as its manual page says, signing with gpg; reaches the store directly until told otherwise. */
export async function openAptly(laboratory: Laboratory, { name, bucket, contents }: AptlySettings): Promise<Aptly> {
  const folder = join(laboratory.folder, `aptly-${name}`);
  const configuration = join(folder, 'aptly.conf');
  const { gnupgHome, user } = laboratory.signing;
  const prefix = `s3:bench:aptly-${name}`;
  await mkdir(folder);
  const reach = (endpoint: string): Promise<void> =>
    writeFile(
      configuration,
      JSON.stringify({
        rootDir: folder,
        architectures: ['amd64'],
        gpgProvider: 'gpg',
        S3PublishEndpoints: {
          bench: {
            region: 'us-east-1',
            bucket: bucket.name,
            endpoint,
            acl: 'none',
            awsAccessKeyID: bucket.credentials.accessKeyId,
            awsSecretAccessKey: bucket.credentials.secretAccessKey,
          },
        },
      }),
    );
  await reach(bucket.endpoint);
  const aptly = (...args: string[]): Promise<Observed> =>
    observe('aptly', [`-config=${configuration}`, ...args], {
      env: { PATH: process.env['PATH'], HOME: folder, GNUPGHOME: gnupgHome, LC_ALL: 'C' },
    });
  const publishing = ['-batch', `-gpg-key=${user}`, ...(contents ? [] : ['-skip-contents'])];
  return {
    reach,
    createRepository: async (distribution) =>
      void (await aptly('repo', 'create', `-distribution=${distribution}`, '-component=main', distribution)),
    add: (distribution, ...paths) => aptly('repo', 'add', distribution, ...paths),
    publish: (distribution) =>
      aptly('publish', 'repo', ...publishing, `-distribution=${distribution}`, distribution, prefix),
    update: (distribution) => aptly('publish', 'update', ...publishing, distribution, prefix),
  };
}

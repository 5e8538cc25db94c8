import { devNull } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ownPrefix } from '../publish/layout.ts';
import { DirectoryStore } from '../store/directory.ts';
import { HttpStore } from '../store/http.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { S3Store } from '../store/s3.ts';
import type { Clock } from '../timing/clock.ts';
import type { Settings } from './settings.ts';

/** A store, and how it is told of requests to come where that helps. */
export interface OpenedStore {
  readonly store: ObjectStore;
  readonly expectRequests?: (count: number) => void;
}

/** The adapter for the place that the settings name. Nothing is asked of it yet. */
export function openStore(location: Settings['store'], clock: Clock, version: string): OpenedStore {
  if (location.kind === 's3') {
    leaveFilesAlone();
    const store = new S3Store({ ...location, version });
    return { store, expectRequests: (count) => store.warm(count) };
  }
  if (location.kind === 'public') {
    return { store: new HttpStore({ url: location.url, input: 'public-url', hidden: ownPrefix, version }) };
  }
  return { store: new DirectoryStore({ root: resolve(location.path), clock, writer: String(process.pid) }) };
}

/**
 * The SDK looks for more settings in the home of the account that it runs under, and fails where that has none, as in a container with a
 * number for a user. What is to be said is said in the inputs. `/nonexistent` is what Debian calls the home of nobody.
 */
function leaveFilesAlone(): void {
  process.env['HOME'] ??= '/nonexistent';
  for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) process.env[name] ??= devNull;
}

/** What a repository lies in. A bucket is one, however a run may read it. */
export function storeKind({ kind }: Settings['store']): 's3' | 'directory' {
  return kind === 'directory' ? kind : 's3';
}

/** Where apt can read a directory repository on this very machine; a bucket's address has to be said. */
export function localUri(location: Settings['store']): string | undefined {
  return location.kind === 'directory' ? pathToFileURL(resolve(location.path)).href.replace(/\/$/, '') : undefined;
}

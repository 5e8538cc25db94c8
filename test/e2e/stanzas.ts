import { gunzipSync } from 'node:zlib';
import type { RepositoryBucket } from './bucket.ts';

/** Field name → value, continuation lines included as they stand. */
export type Stanza = ReadonlyMap<string, string>;

/** Reads deb822 text, in a second and simpler way than the action's own. */
export function stanzasOf(text: string): Stanza[] {
  return text
    .split('\n\n')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const fields = part.trimEnd().matchAll(/^([!-9;-~]+):[ \t]*(.*(?:\n[ \t].*)*)/gm);
      return new Map(Array.from(fields, ([, name = '', value = '']) => [name, value]));
    });
}

/** Stanzas by package, version and architecture. Throws when two have the same. */
export function byIdentity(stanzas: readonly Stanza[]): Map<string, Stanza> {
  const found = new Map<string, Stanza>();
  for (const stanza of stanzas) {
    const identity = ['Package', 'Version', 'Architecture'].map((name) => stanza.get(name) ?? '').join(' ');
    if (found.has(identity)) throw new Error(`${identity} is listed twice`);
    found.set(identity, stanza);
  }
  return found;
}

/** A published index, unpacked. `path` is relative to the suite and without a form: `main/binary-amd64/Packages`. */
export async function publishedIndex(bucket: RepositoryBucket, suite: string, path: string): Promise<string> {
  return gunzipSync(await bucket.read(`dists/${suite}/${path}.gz`)).toString();
}

/** The folder below `pool/` of a source package: its first letter, or its first four for a library. */
export function poolFolder(component: string, source: string): string {
  const prefix = source.startsWith('lib') ? source.slice(0, 4) : source.slice(0, 1);
  return `pool/${component}/${prefix}/${source}`;
}

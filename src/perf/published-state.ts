import { createHash } from 'node:crypto';
import { parseRelease } from '../debian/release.ts';
import { listed, type ObjectStore } from '../store/object-store.ts';

/**
 * SHA-256 of what a run has published, the same for two runs that published the same: the pool's names and sizes, and the uncompressed indexes that
 * Release lists, without dates, signatures, compressed forms and this tool's own notes. Undefined when the suite is not whole: no Release,
 * no head, or a listed file that is not there with its size.
 */
export async function publishedState(store: ObjectStore, suite: string): Promise<string | undefined> {
  const sizes = new Map<string, number>();
  for (const folder of ['dists/', 'pool/']) {
    for await (const { key, size } of listed(store, folder)) sizes.set(key, size);
  }
  const release = await store.get(`dists/${suite}/Release`);
  if (!release.found || !sizes.has(`dists/${suite}/InRelease`)) return undefined;
  const { fields, files } = parseRelease(Buffer.from(release.body).toString(), 'Release');
  const compressed = files.filter(({ path }) => /\.(?:gz|xz|zst)$/.test(path));
  if (compressed.length === 0) return undefined;
  if (compressed.some(({ path, size }) => sizes.get(`dists/${suite}/${path}`) !== size)) return undefined;
  const told = {
    fields: fields.filter(({ name }) => !/^(?:date|valid-until)$/i.test(name)).map(({ name, value }) => [name, value]),
    indexes: files.filter((file) => !compressed.includes(file)).map(({ path, sha256 }) => [path, sha256]),
    pool: [...sizes].filter(([key]) => key.startsWith('pool/')).sort(),
  };
  return createHash('sha256').update(JSON.stringify(told)).digest('hex');
}

import { createHash } from 'node:crypto';
import { compress } from '../src/codec/codecs.ts';
import type { ObjectStore } from '../src/store/object-store.ts';

const attributes = { contentType: 'application/octet-stream', cacheControl: 'no-cache' };

/**
 * Writes an unsigned suite of component main and architecture amd64 as another tool would have left it, for `adopt` to take over. Its indexes are compressed by
 * our codec, so that the next runs find them in the pieces that they carry over. Nothing is in its pool: no run reads it.
 */
export async function seedSuite(
  store: ObjectStore,
  suite: string,
  indexes: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const listed: string[] = [];
  const list = (path: string, bytes: Uint8Array) =>
    listed.push(` ${createHash('sha256').update(bytes).digest('hex')} ${bytes.length} ${path}\n`);
  for (const [path, bytes] of indexes) {
    list(path, bytes);
    for (const form of ['gz', 'xz'] as const) {
      const compressed = await compress(form, bytes);
      list(`${path}.${form}`, compressed);
      await store.put(`dists/${suite}/${path}.${form}`, compressed, attributes);
    }
  }
  const head = `Codename: ${suite}\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nArchitectures: amd64\nComponents: main\n`;
  await store.put(`dists/${suite}/Release`, Buffer.from(`${head}SHA256:\n${listed.join('')}`), attributes);
}

import type { ObjectAttributes, ObjectStore } from '../store/object-store.ts';
import { canonicalAttributes } from './attributes.ts';
import { canonicalKey } from './layout.ts';

/** Writes Release or Release.gpg. `first`: of a suite that has had none, as in `createName`. */
export async function putName(
  store: ObjectStore,
  suite: string,
  name: string,
  text: string,
  { first = false }: { readonly first?: boolean } = {},
): Promise<void> {
  const key = canonicalKey(suite, name);
  const body = Buffer.from(text);
  const attributes = canonicalAttributes(name);
  if (first && (await createName(store, key, body, attributes))) return;
  await store.put(key, body, attributes);
}

/**
 * Writes a canonical name that is not there yet; false when it turns out to stand for something else already. The condition makes it the one write of
 * such a name that may be sent a second time when it is late: a copy that comes after the answer, or after somebody else's publish, finds
 * the name there and changes nothing.
 */
export async function createName(
  store: ObjectStore,
  key: string,
  body: Uint8Array,
  attributes: ObjectAttributes,
): Promise<boolean> {
  const answer = await store.put(key, body, { ...attributes, condition: { absent: true }, overlaps: true });
  if (answer.written) return true;
  const now = await store.get(key);
  return now.found && Buffer.compare(now.body, body) === 0;
}

import type { ObjectStore } from '../store/object-store.ts';
import { immutableAttributes } from './attributes.ts';
import { digest } from './digest.ts';
import type { Finding } from './finding.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import type { Published } from './look.ts';
import { restore } from './restore.ts';
import { phase, type RunContext } from './run-context.ts';
import type { StoredIndex } from './suite-record.ts';
import type { SuiteView } from './suite-view.ts';
import { wave } from './wave.ts';

/**
 * Mends what follows from by-hash objects and the record, and nothing else; nothing is ever deleted. A by-hash object that is missing, or is not what
 * it is named for, is written again from the copy in the record or from its canonical name: no claim deletes what the newest record
 * names. Then canonical names, Release and Release.gpg are put back as an overtaken publisher puts them back, until no
 * further claim came in between. Names are left alone while a generation is claimed: they are the claimer's, and whoever finishes that claim
 * writes them.
 *
 * Answers whether anything was written.
 */
export async function mend(run: RunContext, view: SuiteView, findings: readonly Finding[]): Promise<boolean> {
  const { suite, published, settled } = view;
  const lost = findings.flatMap(({ kind, index }) => (kind === 'by-hash' && index !== undefined ? [index] : []));
  const written = await phase(run, 'stage', suite, ({ store }) =>
    wave(lost, (index) => stageAgain(store, suite, published, index)),
  );
  const gone = new Set(lost.filter((_, index) => written[index] === false).map(({ sha256 }) => sha256));
  const paths = findings.flatMap(({ kind, index }) =>
    kind === 'canonical' && index !== undefined && !gone.has(index.sha256) ? [index.path] : [],
  );
  const names = settled && (paths.length > 0 || findings.some(({ kind }) => kind === 'release'));
  if (names) await phase(run, 'rename', suite, (restoring) => restore(run, suite, paths, restoring));
  return names || written.includes(true);
}

async function stageAgain(
  store: ObjectStore,
  suite: string,
  { record }: Published,
  { path, sha256 }: StoredIndex,
): Promise<boolean> {
  const embedded = Buffer.from(record.embedded[path] ?? '', 'base64');
  const bytes = digest(embedded) === sha256 ? embedded : await canonicalBytes(store, suite, path);
  if (bytes === undefined || digest(bytes) !== sha256) return false;
  await store.put(byHashKey(suite, path, sha256), bytes, immutableAttributes(path, sha256));
  return true;
}

async function canonicalBytes(store: ObjectStore, suite: string, path: string): Promise<Uint8Array | undefined> {
  const object = await store.get(canonicalKey(suite, path));
  return object.found ? object.body : undefined;
}

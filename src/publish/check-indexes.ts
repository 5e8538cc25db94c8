import { decompress } from '../codec/codecs.ts';
import { Problem } from '../problem.ts';
import { publicKeys, verifyDetached } from '../signing/verify.ts';
import { digest } from './digest.ts';
import type { Finding } from './finding.ts';
import { compressionOf, namesPoolFiles } from './index-paths.ts';
import { byHashKey, canonicalKey } from './layout.ts';
import { byEffort, type ListedPoolFile, listedFiles } from './listed-files.ts';
import { storedIndexes } from './next-record.ts';
import { largestIndex } from './read-indexes.ts';
import type { Phase, RunContext } from './run-context.ts';
import type { StoredIndex } from './suite-record.ts';
import { type IndexGroup, indexGroups, type SuiteView } from './suite-view.ts';
import { together, wave } from './wave.ts';

/** What the indexes of a suite came to. */
export interface CheckedIndexes {
  readonly findings: readonly Finding[];
  /** How many by-hash objects were read. */
  readonly read: number;
  /** Pool files that must be there. */
  readonly listed: readonly ListedPoolFile[];
  /** False when a list of packages could not be read, so that more may be reached than `listed` tells. */
  readonly complete: boolean;
}

/** Reads every index of a suite by its hash and hashes it; what names packages is unpacked, in one form. */
export async function checkIndexes(reading: Phase, view: SuiteView): Promise<CheckedIndexes> {
  const groups = indexGroups(view);
  const checked = await wave(groups, (group) => checkGroup(reading, view.suite, group));
  return {
    findings: checked.flatMap(({ findings }) => findings),
    read: groups.reduce((sum, { forms }) => sum + forms.length, 0),
    listed: checked.flatMap(({ listed }) => listed ?? []),
    complete: checked.every(({ listed }) => listed !== undefined),
  };
}

/** One form after the other, so that no more than one of an index is in memory. */
async function checkGroup(
  reading: Phase,
  suite: string,
  group: IndexGroup,
): Promise<{ findings: Finding[]; listed: readonly ListedPoolFile[] | undefined }> {
  const findings: Finding[] = [];
  let listed: readonly ListedPoolFile[] | undefined = namesPoolFiles(group.index) && group.reachesPool ? undefined : [];
  for (const form of byEffort(group.forms)) {
    const key = byHashKey(suite, form.path, form.sha256);
    const found = (what: string) => findings.push({ kind: 'by-hash', suite, key, what, index: form });
    const object = await reading.store.get(key);
    if (!object.found) found(`It is missing, and ${group.of} names it as ${form.path}.`);
    else if (digest(object.body) !== form.sha256) {
      found(`Its bytes are not those it is named for, and ${group.of} names it as ${form.path}.`);
    } else if (listed === undefined) {
      listed = await unpack(reading, suite, group, form, object.body).catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        found(error.what);
        return undefined;
      });
    }
  }
  return { findings, listed };
}

async function unpack(
  { scope }: Phase,
  suite: string,
  { index, twin }: IndexGroup,
  { path }: StoredIndex,
  bytes: Uint8Array,
): Promise<readonly ListedPoolFile[] | undefined> {
  const compression = compressionOf(path);
  if (compression === undefined) return undefined;
  const origin = `${path} of suite ${suite}`;
  const limit = twin?.size ?? largestIndex;
  const content = await scope.work('unpack', bytes.length, () => decompress(compression, bytes, limit, origin));
  if (twin === undefined || digest(content) === twin.sha256) return listedFiles(content, index, origin);
  throw new Problem({
    code: 'index-changed',
    title: 'A published index was changed',
    what: `${origin} does not hold what the signed Release lists as ${index}.`,
    advice: 'Publish once more.',
  });
}

/** Checks what is read by name: every index, Release and Release.gpg, against what the head says. */
export async function checkNames(run: RunContext, reading: Phase, view: SuiteView): Promise<Finding[]> {
  const { live } = view;
  if (live === undefined) return [];
  const [indexes, release] = await together(
    wave(storedIndexes(live.release), (index) => checkName(reading, view, index)),
    checkRelease(run, reading, view, live.releaseText),
  );
  return [...indexes.flat(), ...release];
}

/** While a generation is claimed, a name may be that one's already. */
async function checkName({ store }: Phase, view: SuiteView, index: StoredIndex): Promise<Finding[]> {
  const { suite, settled, published } = view;
  const key = canonicalKey(suite, index.path);
  const object = await store.get(key);
  const found = (what: string): Finding[] => [{ kind: 'canonical', suite, key, what, index }];
  if (!object.found) return found('It is missing, and the head lists it.');
  const claimed = settled ? [] : published.record.generation.renames.filter(({ path }) => path === index.path);
  const allowed = [index, ...claimed].map(({ sha256 }) => sha256);
  return allowed.includes(digest(object.body)) ? [] : found('Its bytes are not those that the head lists.');
}

/** An unsigned suite has neither: its head is Release. */
async function checkRelease(
  run: RunContext,
  { store }: Phase,
  { suite, settled, published }: SuiteView,
  liveText: string,
): Promise<Finding[]> {
  const { keys } = run;
  if (keys === undefined) return [];
  const names = ['Release', 'Release.gpg'] as const;
  const [release, signature] = await wave(names, (name) => store.get(canonicalKey(suite, name)));
  const text = (object: typeof release) => (object?.found === true ? Buffer.from(object.body).toString() : undefined);
  const claimed = settled ? undefined : published;
  const fault = (name: (typeof names)[number], what: string): Finding => ({
    kind: 'release',
    suite,
    key: canonicalKey(suite, name),
    what,
  });
  const findings: Finding[] = [];
  if (text(release) === undefined) findings.push(fault('Release', 'It is missing.'));
  else if (text(release) !== liveText && text(release) !== claimed?.releaseText) {
    findings.push(fault('Release', 'It is not the text that the head signs.'));
  }
  const armored = text(signature);
  if (armored === undefined) findings.push(fault('Release.gpg', 'It is missing.'));
  else if (claimed === undefined || armored !== claimed.record.generation.releaseGpg) {
    const subject = Buffer.from(liveText);
    const origin = `Release.gpg of suite ${suite}`;
    await verifyDetached(subject, armored, publicKeys(keys), origin).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      findings.push(fault('Release.gpg', `It does not sign what the head signs: ${error.what}`));
    });
  }
  return findings;
}

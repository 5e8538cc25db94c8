/** Where things are in a store. The only place that spells keys. */

export const poolRecordKey = '.apt-publish/pool.json';
/** Which suites there are: no record ends like this. */
export const suitesKey = '.apt-publish/suites';
/** Everything this tool keeps for itself. */
export const ownPrefix = '.apt-publish/';

/** What writers follow. `pool` is not a possible suite name, so this never meets `poolRecordKey`. */
export function recordKey(suite: string): string {
  return `${ownPrefix}${suite}.json`;
}

/** The suite a record's key belongs to; undefined for keys that are no suite's record. */
export function suiteOfRecordKey(key: string): string | undefined {
  if (!key.startsWith(ownPrefix) || !key.endsWith('.json') || key === poolRecordKey) return undefined;
  return key.slice(ownPrefix.length, -'.json'.length);
}

/** The times of one run of a command on a suite, in one of so many places. No record ends like this. */
export function timesKey(suite: string, command: string, place: number): string {
  return `${timesPrefix(suite)}${command}.${place}`;
}

/** Where the times of a suite's runs lie, and perhaps those of a suite whose longer name begins like its own. */
export function timesPrefix(suite: string): string {
  return `${ownPrefix}timings/${suite}.`;
}

/** The object that readers follow: an unsigned suite has no InRelease, and apt falls back to Release. */
export function headKey(suite: string, signed: boolean): string {
  return canonicalKey(suite, signed ? 'InRelease' : 'Release');
}

/** `path` as the Release file lists it. */
export function canonicalKey(suite: string, path: string): string {
  return `dists/${suite}/${path}`;
}

/** apt(8) `Acquire::By-Hash`: beside the index, without its extension, one copy per stored form. */
export function byHashKey(suite: string, path: string, sha256: string): string {
  const slash = path.lastIndexOf('/');
  const folder = slash < 0 ? '' : path.slice(0, slash + 1);
  return `dists/${suite}/${folder}by-hash/SHA256/${sha256}`;
}

/** The file list of one package, kept so that its data.tar need never be read again. */
export function fileListKey(sha256: string): string {
  return `${ownPrefix}contents/${sha256}.gz`;
}

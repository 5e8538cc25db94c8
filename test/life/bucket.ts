import { gunzipSync } from 'node:zlib';
import { parseRelease } from '../../src/debian/release.ts';
import { namesPoolFiles, splitForm } from '../../src/publish/index-paths.ts';
import { byHashKey, canonicalKey, headKey, recordKey } from '../../src/publish/layout.ts';
import { listedFiles } from '../../src/publish/listed-files.ts';
import { parseSuiteRecord, type StoredIndex } from '../../src/publish/suite-record.ts';
import { unverifiedText } from '../../src/signing/verify.ts';
import type { Objects } from '../race/object-model.ts';

/** What a suite has a right to in the bucket, worked out from its record alone. */
interface Holdings {
  readonly names: readonly string[];
  readonly byHash: readonly string[];
  readonly pool: readonly string[];
  /** By-hash objects that there can be at most: those of the newest generation, and for each kept one all of its own and its head. */
  readonly most: number;
}

function holdingsOf(objects: Objects, suite: string): Holdings {
  const object = objects.get(recordKey(suite));
  if (object === undefined) return { names: [], byHash: [], pool: [], most: 0 };
  const { generation, kept } = parseSuiteRecord(object.body, suite);
  const text = unverifiedText(Buffer.from(generation.head), suite);
  const stored = parseRelease(text, suite).files.filter(({ path }) => splitForm(path).extension !== '');
  const dropped = kept.map((each) => each.dropped);
  const forms = Math.max(stored.length, ...dropped.map(({ length }) => length - 1));
  return {
    names: [
      ...stored.map(({ path }) => canonicalKey(suite, path)),
      headKey(suite, true),
      canonicalKey(suite, 'Release'),
      canonicalKey(suite, 'Release.gpg'),
    ],
    byHash: [...stored, ...dropped.flat()].map(({ path, sha256 }) => byHashKey(suite, path, sha256)),
    pool: [...stored, ...dropped.flat()].flatMap((index) => poolFiles(objects, suite, index)),
    most: forms + kept.length * (forms + 1),
  };
}

function poolFiles(objects: Objects, suite: string, { path, sha256 }: StoredIndex): string[] {
  const { index } = splitForm(path);
  const object = objects.get(byHashKey(suite, path, sha256));
  if (object === undefined || !namesPoolFiles(index)) return [];
  return listedFiles(gunzipSync(object.body), index, path).map(({ filename }) => filename);
}

/** How a bucket differs from what its suites have a right to; this tool's own objects are left out. */
export function bucketDifferences(
  objects: Objects,
  suites: readonly string[],
): { missing: string[]; leftOver: string[]; byHash: number; most: number } {
  const holdings = suites.map((suite) => holdingsOf(objects, suite));
  const rightful = new Set(holdings.flatMap(({ names, byHash, pool }) => [...names, ...byHash, ...pool]));
  const there = [...objects.keys()].filter((key) => !key.startsWith('.apt-publish/'));
  return {
    missing: [...rightful].filter((key) => !objects.has(key)).sort(),
    leftOver: there.filter((key) => !rightful.has(key)).sort(),
    byHash: there.filter((key) => key.includes('/by-hash/')).length,
    most: holdings.reduce((sum, { most }) => sum + most, 0),
  };
}

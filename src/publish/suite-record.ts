import * as v from 'valibot';
import { quoted } from '../debian/deb822.ts';
import { Problem } from '../problem.ts';
import { commandNames } from './request.ts';
import { count, indexPath, poolPath } from './stored-path.ts';

/**
 * The record of a suite, `.apt-publish/<suite>.json`: what writers follow. It is replaced by compare-and-swap only (the claim),
 * and holds all that anybody needs to finish what its newest generation began.
 */

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const moment = v.pipe(v.string(), v.isoTimestamp());

const storedIndex = v.object({
  /** With its form: `main/binary-amd64/Packages.gz`. */
  path: indexPath,
  sha256,
});

const runName = v.pipe(v.string(), v.regex(/^[0-9a-zA-Z-]{8,64}$/));

/** Words for people, from the run's surroundings or from packages: one line of them. */
const words = v.pipe(v.string(), v.regex(/^\P{Cc}+$/u), v.maxLength(300));

/** How a generation came about. Shown by the command history; a run knows its own by it, and nothing else is believed. */
const making = v.object({
  command: v.picklist(commandNames),
  /** The run that claimed it, whoever has finished it. */
  run: runName,
  /** By the clock of its run, or SOURCE_DATE_EPOCH. */
  at: moment,
  /** Who made it, as far as the run could tell. */
  by: v.optional(words),
  added: count,
  replaced: count,
  removed: count,
  /** The first names of what changed, each once. */
  packages: v.array(words),
});

const generation = v.object({
  number: count,
  /** The text of the head: InRelease, or Release of an unsigned suite. */
  head: v.pipe(v.string(), v.maxLength(10_000_000)),
  /** Absent for an unsigned suite. */
  releaseGpg: v.optional(v.pipe(v.string(), v.maxLength(1_000_000))),
  /** The canonical names that differ from the generation before, and so have to be renamed to. */
  renames: v.array(storedIndex),
  /** Pool files that it names and the generation before does not. */
  added: v.array(poolPath),
  /** Version of the pool record that was read before those were uploaded; 0 when there was none. */
  poolVersion: count,
  /** Absent where another tool has made it. */
  made: v.optional(making),
});

const keptGeneration = v.object({
  number: count,
  headSha256: sha256,
  /** When the next generation took its place: its grace runs from here. */
  until: moment,
  made: v.optional(making),
  /** What it stored under names that the generation after it stores otherwise, or no longer; its head comes first. */
  dropped: v.array(storedIndex),
});

const unlistedFile = v.object({
  /** As `Filename` said. */
  filename: poolPath,
  /** Of its bytes, where the index said so. */
  sha256: v.optional(sha256),
  since: moment,
});

/** `COMPONENT ARCHITECTURE PACKAGE VERSION`; no name of a file. */
const versionNames = v.array(v.pipe(v.string(), v.regex(/^[^\s\p{C}]+(?: [^\s\p{C}]+){3}$/u), v.maxLength(1024)));

const suiteRecord = v.object({
  schema: v.literal('apt-publish/suite/1'),
  suite: v.string(),
  claim: v.object({
    /** Which run holds the claim. */
    run: runName,
    /** How long that run may act on it before it must ask again, and everybody else waits before helping. */
    limitSeconds: v.pipe(v.number(), v.minValue(1), v.maxValue(600)),
    /** How often that run has asked again. */
    renewals: v.optional(count),
  }),
  generation,
  /** Newest first; the first is the one that the newest generation replaced. */
  kept: v.array(keptGeneration),
  /** By-hash objects that this claim deletes after its commit; by two claims in a row, since the first may not have come to it. */
  condemned: v.array(v.object({ ...storedIndex.entries, again: v.boolean() })),
  /** By-hash objects that no later claim deletes, but that an earlier one may still be deleting until then. */
  fading: v.array(v.object({ ...storedIndex.entries, until: moment })),
  /** Pool files that this suite no longer lists, until they are known to be gone or are listed again. */
  unlisted: v.array(unlistedFile),
  /** Since when newer versions follow what is still listed, as publishes with `keep-days` have found: see `superseded.ts`. */
  superseded: v.optional(v.array(v.object({ since: moment, versions: versionNames }))),
  /** What the store was found to do with conditions, so that nobody need ask again. */
  conditions: v.object({
    kind: v.picklist(['enforced', 'create-only', 'none']),
    etags: v.picklist(['bare', 'quoted']),
  }),
  /** Whether the store was found to take much longer for a copy than for a small write: see `rename-method.ts`. */
  slowCopies: v.optional(v.literal(true)),
  /** Digests of lists of packages, base64, by the SHA-256 of the form that is read of each: see `name-digest.ts`. As many as fit. */
  named: v.optional(v.record(sha256, v.pipe(v.string(), v.base64()))),
  /** Small indexes of the newest generation, base64 of the stored form, so that reading them costs no request. */
  embedded: v.record(v.string(), v.pipe(v.string(), v.base64())),
});

export type SuiteRecord = v.InferOutput<typeof suiteRecord>;
export type KeptGeneration = v.InferOutput<typeof keptGeneration>;
export type Making = v.InferOutput<typeof making>;
export type StoredIndex = v.InferOutput<typeof storedIndex>;
export type Conditions = SuiteRecord['conditions'];

/** Reads a record; `record-garbage` when it is not one of this suite. Nothing in it is trusted for being well-formed. */
export function parseSuiteRecord(bytes: Uint8Array, suite: string): SuiteRecord {
  const problem = (why: string, cause?: unknown) =>
    new Problem({
      code: 'record-garbage',
      title: 'The record of a suite cannot be read',
      what: `The record of suite ${suite} (.apt-publish/${suite}.json) is not one that this version wrote: ${why}.`,
      advice: 'Restore it from a backup of the bucket, or remove it and publish once with `adopt: true`.',
      cause,
    });
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw problem('it is not JSON', error);
  }
  const result = v.safeParse(suiteRecord, json);
  if (!result.success) {
    const [issue] = result.issues;
    const place = v.getDotPath(issue);
    // Names in it are a stranger's.
    const where = place === null ? 'the whole' : quoted(place, 200);
    throw problem(`${where}: expected ${issue.expected ?? 'something else'}`);
  }
  if (result.output.suite !== suite) throw problem(`it belongs to suite ${JSON.stringify(result.output.suite)}`);
  return result.output;
}

/** One JSON document with a fixed order of fields, so that equal records are equal bytes. */
export function renderSuiteRecord(record: SuiteRecord): Uint8Array {
  return Buffer.from(`${JSON.stringify(v.parse(suiteRecord, record), undefined, 1)}\n`);
}

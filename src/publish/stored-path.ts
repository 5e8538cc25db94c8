import * as v from 'valibot';

/**
 * Paths in records. A record carries no signature of its own, and what it names is copied and deleted: a path must stay in its folder,
 * and no record may reach another suite, a head or another record.
 */

/** Relative, without empty, `.` or `..` parts, control characters or line separators. */
const plainPath = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))(?!\/)(?!.*\/\/)[^\p{Cc}\p{Zl}\p{Zp}\\]+$/su;

/** Inside one suite: `main/binary-amd64/Packages.gz`. */
export const indexPath = v.pipe(v.string(), v.regex(plainPath), v.maxLength(1024));

/** As `Filename` says it: anywhere but where suites and this tool's own objects are. Foreign archives do not all call it `pool/`. */
export const poolPath = v.pipe(
  v.string(),
  v.regex(plainPath),
  v.regex(/^(?!dists\/|\.apt-publish\/)/),
  v.maxLength(1024),
);

/** Whether a file can be named in a record; one that cannot is never removed. */
export function isPoolPath(filename: string): boolean {
  return v.is(poolPath, filename);
}

/** A number that can still grow. */
export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(2 ** 48));

import { fieldValue } from '../debian/deb822.ts';
import { parseRelease, type Release } from '../debian/release.ts';
import { parseReleaseDate } from '../debian/release-date.ts';
import { Problem } from '../problem.ts';
import type { PublicKeys } from '../signing/keys.ts';
import { unverifiedText, verifyDetached, verifyInRelease } from '../signing/verify.ts';
import { canonicalKey, headKey } from './layout.ts';
import type { Foreign } from './look.ts';
import type { Phase } from './run-context.ts';

/** The head of a suite that something else has made: its text, and whether that is an InRelease. */
export type ForeignHead = Pick<Foreign, 'head' | 'signed'>;

/** What such a head says, and who says so. */
export interface ForeignRelease {
  readonly release: Release;
  /** As the signature covers it. */
  readonly text: string;
  /** For people: `an InRelease signed by 0123…`. */
  readonly vouched: string;
}

/** InRelease, or Release where there is none, as apt looks for them. Throws `import-suite-missing` when there is neither. */
export async function readForeignHead(store: Pick<Phase['store'], 'get'>, suite: string): Promise<ForeignHead> {
  for (const signed of [true, false]) {
    const object = await store.get(headKey(suite, signed));
    if (object.found) return { head: Buffer.from(object.body).toString(), signed };
  }
  throw new Problem({
    code: 'import-suite-missing',
    title: 'There is no such suite to import',
    what: `The repository to import has neither ${headKey(suite, true)} nor ${headKey(suite, false)}.`,
    advice: 'Look at the spelling of `suites`, and see that `import` is the address that `dists/` lies below.',
  });
}

/**
 * Reads a foreign head. With `trusted`, one of these keys must have signed it (InRelease, or Release by way of Release.gpg), or
 * `import-not-verified` is thrown; without, the user has vouched for it.
 */
export async function readForeignRelease(
  store: Pick<Phase['store'], 'get'>,
  suite: string,
  { head, signed }: ForeignHead,
  trusted: PublicKeys | undefined,
): Promise<ForeignRelease> {
  const origin = `The ${signed ? 'InRelease' : 'Release'} of suite ${suite}`;
  if (trusted === undefined) {
    const text = signed ? unverifiedText(Buffer.from(head), origin) : head;
    const vouched = signed ? 'an InRelease whose signature was not checked' : 'a Release without a signature';
    return { release: parseRelease(text, origin), text, vouched };
  }
  try {
    const { release: text, signedBy } = signed
      ? await verifyInRelease(Buffer.from(head), trusted, origin)
      : await verifyPair(store, suite, head, trusted, origin);
    const vouched = `${signed ? 'an InRelease' : 'a Release'} signed by ${signedBy.join(' and ')}`;
    return { release: parseRelease(text, origin), text, vouched };
  } catch (error) {
    throw error instanceof Problem ? notVerified(error) : error;
  }
}

async function verifyPair(
  store: Pick<Phase['store'], 'get'>,
  suite: string,
  release: string,
  trusted: PublicKeys,
  origin: string,
): Promise<{ release: string; signedBy: string[] }> {
  const object = await store.get(canonicalKey(suite, 'Release.gpg'));
  const signature = object.found ? Buffer.from(object.body).toString() : '';
  const { signedBy } = await verifyDetached(Buffer.from(release), signature, trusted, origin);
  return { release, signedBy };
}

/** What apt would complain about, as sentences: an import goes on, since the user has chosen what to import. */
export function doubtsAbout(suite: string, { release }: ForeignRelease, now: number): string[] {
  const names = ['Suite', 'Codename'].flatMap((field) => fieldValue(release.fields, field) ?? []);
  const until = parseReleaseDate(fieldValue(release.fields, 'Valid-Until') ?? '');
  return [
    ...(names.includes(suite)
      ? []
      : [`What is imported as suite ${suite} calls itself ${names.length === 0 ? 'nothing' : names.join(' and ')}.`]),
    ...(until !== undefined && until < now
      ? [`What is imported as suite ${suite} was valid until ${new Date(until).toISOString()}: newer states may exist.`]
      : []),
  ];
}

function notVerified(cause: Problem): Problem {
  return new Problem({
    code: 'import-not-verified',
    title: 'What is to be imported is not signed as it should be',
    what: cause.what,
    advice:
      'See that `import-key` is the key of that repository; only if you vouch for it yourself, write `import-trusted: true` instead.',
    cause,
  });
}

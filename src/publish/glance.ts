import { parseRelease } from '../debian/release.ts';
import { Problem } from '../problem.ts';
import { publicKeys, unverifiedText, verifyInRelease } from '../signing/verify.ts';
import { publicAccessDenied } from '../store/http.ts';
import type { Found, NotFound, ObjectStore } from '../store/object-store.ts';
import { standInRecord } from './adopt.ts';
import { headKey, recordKey } from './layout.ts';
import { type Baseline, look, matches, type Sight, type Trusted, unsignedBefore } from './look.ts';
import { phase, type RunContext } from './run-context.ts';
import { parseSuiteRecord } from './suite-record.ts';
import { together } from './wave.ts';

/** A suite as a dry run takes it for published. */
export type Glance =
  | Exclude<Sight, { readonly state: 'apart' }>
  | { readonly state: 'shown'; readonly published: Baseline };

/**
 * Looks at a suite for a dry run: it waits for nobody, finishes nothing and writes nothing. A generation that is claimed counts as published,
 * since it will be before any other.
 */
export function glance(run: RunContext, suite: string, adopt: boolean): Promise<Glance> {
  const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
  return phase(run, 'read', suite, async ({ store }) => {
    if (run.outside === true) return outsideView(run, store, suite, trusted);
    const sight = await look(store, suite, trusted, adopt);
    return sight.state === 'apart' ? { state: 'shown', published: sight.published } : sight;
  });
}

/**
 * A suite as its readers see it: the head says everything that a plan needs, and the record only adds to that where it can be read and is
 * of this very head. The signature is checked where there are keys to check it with. Where the head is forbidden nothing tells whether there
 * is one (invariant 6): the report then says that it takes the suite for new, and that it may not be.
 */
async function outsideView(run: RunContext, store: ObjectStore, suite: string, trusted: Trusted): Promise<Glance> {
  const [recordObject, signedHead] = await together(store.get(recordKey(suite)), readHead(store, suite, true));
  const signed = signedHead !== 'forbidden' && signedHead.found;
  const head = signed ? signedHead : await readHead(store, suite, false);
  if (head === 'forbidden' || !head.found) {
    if (head === 'forbidden' || signedHead === 'forbidden') run.warn(doubtful(suite));
    return { state: 'new', recordEtag: undefined };
  }
  const releaseText = await textOf(run, suite, head, signed, trusted);
  const record = recordOf(recordObject, suite, head) ?? standInRecord(suite, Buffer.from(head.body).toString());
  const release = parseRelease(releaseText, originOf(suite, signed));
  return { state: 'shown', published: { record, recordAge: undefined, releaseText, release } };
}

async function readHead(store: ObjectStore, suite: string, signed: boolean): Promise<Found | NotFound | 'forbidden'> {
  try {
    return await store.get(headKey(suite, signed));
  } catch (error) {
    if (error instanceof Problem && error.code === publicAccessDenied) return 'forbidden';
    throw error;
  }
}

async function textOf(
  run: RunContext,
  suite: string,
  { body }: Found,
  signed: boolean,
  trusted: Trusted,
): Promise<string> {
  const origin = originOf(suite, signed);
  if (trusted !== undefined) {
    if (!signed) throw unsignedBefore(suite);
    return (await verifyInRelease(body, trusted, origin)).release;
  }
  if (!signed) return Buffer.from(body).toString();
  run.warn(`The signature of suite ${suite} was not checked, since this run has no key to check it with.`);
  return unverifiedText(body, origin);
}

/** A record that cannot be read is as good as none here, and nothing is built on one that is wrong. */
function recordOf(object: Found | NotFound, suite: string, head: Found): Baseline['record'] | undefined {
  if (!object.found) return undefined;
  try {
    const record = parseSuiteRecord(object.body, suite);
    return matches(head, record) ? record : undefined;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

function originOf(suite: string, signed: boolean): string {
  return `The ${signed ? 'InRelease' : 'Release'} of suite ${suite}`;
}

function doubtful(suite: string): string {
  return `Whether suite ${suite} exists cannot be told without keys of the store, since \`public-url\` refuses to give its InRelease and Release. It is taken for a new one here, so conflicts would not be seen.`;
}

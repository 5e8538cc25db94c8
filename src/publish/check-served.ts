import { Problem } from '../problem.ts';
import { publicKeys, verifyInRelease } from '../signing/verify.ts';
import { askPublicly, type ServedObject } from '../store/public-view.ts';
import type { PhaseScope } from '../timing/recorder.ts';
import type { Finding } from './finding.ts';
import { byHashKey, canonicalKey, headKey } from './layout.ts';
import type { ListedPoolFile } from './listed-files.ts';
import { storedIndexes } from './next-record.ts';
import type { RunContext } from './run-context.ts';
import type { SuiteView } from './suite-view.ts';
import { wave } from './wave.ts';

/** An object that stands for its kind, and how caches have to treat that. */
interface Sample {
  readonly key: string;
  readonly changes: boolean;
  readonly size?: number;
}

/** From this age on, seconds, a cache keeps what never changes about as well as for good. */
const longKept = 86_400;

/**
 * Looks at a suite through the address that readers use: its head, one index by its name and by its hash, and one pool file. A server
 * that compresses on its way breaks signatures and hashes, and a cache that keeps names which change, or drops what never does, costs
 * readers an error or time.
 */
export async function checkServed(
  run: RunContext,
  scope: PhaseScope,
  publicUrl: string,
  { suite, live }: SuiteView,
  poolFile: ListedPoolFile | undefined,
): Promise<Finding[]> {
  if (live === undefined) return [];
  const head: Sample = { key: headKey(suite, run.keys !== undefined), changes: true };
  const [index] = storedIndexes(live.release);
  const size = live.release.files.find(({ path }) => path === index?.path)?.size;
  const samples: Sample[] = [
    head,
    ...(index === undefined || size === undefined
      ? []
      : [
          { key: canonicalKey(suite, index.path), changes: true, size },
          { key: byHashKey(suite, index.path, index.sha256), changes: false, size },
        ]),
    ...(poolFile === undefined ? [] : [poolSample(poolFile)]),
  ];
  const found = await wave(samples, async (sample): Promise<Finding[]> => {
    const { key } = sample;
    const answer = await askPublicly(scope, publicUrl, sample === head ? 'GET' : 'HEAD', key);
    const served = (what: string): Finding => ({ kind: 'served', suite, key, what });
    if (typeof answer === 'string') return [served(answer)];
    if (answer.status !== 200) return [served(`Readers get the status ${answer.status} for it.`)];
    const caching = cachingFault(sample, answer);
    return [
      ...transferFaults(sample, answer).map(served),
      ...(caching === undefined ? [] : [{ kind: 'caching', suite, key, what: caching } as const]),
      ...(sample === head ? await staleHead(run, suite, key, live.head, answer) : []),
    ];
  });
  return found.flat();
}

function poolSample({ filename, size }: ListedPoolFile): Sample {
  return { key: filename, changes: false, ...(size === undefined ? {} : { size }) };
}

function transferFaults({ size }: Sample, answer: ServedObject): string[] {
  const { contentEncoding } = answer;
  if (contentEncoding !== '' && contentEncoding !== 'identity') {
    return [`It is served with Content-Encoding: ${contentEncoding}, so readers get other bytes than are signed.`];
  }
  if (size === undefined || answer.size === undefined || answer.size === size) return [];
  return [`It is served with ${answer.size} bytes and has ${size}.`];
}

/** RFC 9111 §5.2.2, as far as it is about shared and private caches alike. */
function cachingFault({ changes }: Sample, { cacheControl }: ServedObject): string | undefined {
  const says = cacheControl === '' ? 'no Cache-Control' : `Cache-Control: ${cacheControl}`;
  const ages = [...cacheControl.matchAll(/\b(?:s-maxage|max-age)=(\d+)/gi)].map(([, seconds]) => Number(seconds));
  const asks = /\b(?:no-cache|no-store)\b/i.test(cacheControl);
  if (changes) {
    const revalidates = asks || (ages.length > 0 && Math.max(...ages) === 0);
    return revalidates ? undefined : `It changes, and is served with ${says}: caches may keep it. Wanted is no-cache.`;
  }
  const kept =
    !asks && (/\bimmutable\b/i.test(cacheControl) || Math.min(...ages, Number.POSITIVE_INFINITY) >= longKept);
  if (kept && ages.length > 0) return undefined;
  return `It never changes, and is served with ${says}: caches ask for it again. Wanted is a max-age of a year, and immutable.`;
}

/** An older head that is signed is what a cache keeps; anything else is not this repository's. */
async function staleHead(
  { keys }: RunContext,
  suite: string,
  key: string,
  head: Uint8Array,
  { body, contentEncoding }: ServedObject,
): Promise<Finding[]> {
  if (contentEncoding !== '' || Buffer.from(head).equals(body)) return [];
  const older: Finding = { kind: 'caching', suite, key, what: 'Readers get another state than the newest one.' };
  if (keys === undefined) return [older];
  return verifyInRelease(body, publicKeys(keys), `What readers get as ${key}`).then(
    () => [older],
    (error: unknown): Finding[] => {
      if (!(error instanceof Problem)) throw error;
      return [{ kind: 'served', suite, key, what: error.what }];
    },
  );
}

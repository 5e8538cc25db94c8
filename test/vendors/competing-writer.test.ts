import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SuiteOutcome } from '../../src/timing/record.ts';
import { publishedAt, suiteOf } from '../publish/publishing.ts';
import type { FaultAction } from '../rig/s3-faults.ts';
import { likenesses, type Quirks } from '../rig/s3-quirks.ts';
import { rigCredentials } from '../rig/s3-server.ts';
import { TestClock } from '../store/clocks.ts';
import { assertConsistent, assertPackages, counts } from './bucket-check.ts';
import { Effects } from './effects.ts';
import { keys, otherCredentials, Workbench } from './workbench.ts';

/** What becomes of one conditional write, and whether it took effect. The other publisher comes before its sender can look. */
interface Fate {
  readonly name: string;
  readonly action: FaultAction | undefined;
  readonly tookEffect: boolean;
}

const answer = (when: 'before' | 'after', status: number, code: string): FaultAction => ({
  do: 'answer',
  when,
  status,
  code,
});

const fates: readonly Fate[] = [
  { name: 'served late', action: undefined, tookEffect: false },
  { name: '500 before', action: answer('before', 500, 'InternalError'), tookEffect: false },
  { name: 'a 502 page', action: { do: 'page', status: 502, html: '<html>Bad Gateway</html>' }, tookEffect: false },
  { name: 'a reset before', action: { do: 'drop', when: 'before' }, tookEffect: false },
  { name: '409', action: answer('before', 409, 'ConditionalRequestConflict'), tookEffect: false },
  { name: '429', action: answer('before', 429, 'TooManyRequests'), tookEffect: false },
  { name: 'SlowDown', action: answer('before', 503, 'SlowDown'), tookEffect: false },
  { name: '412', action: answer('before', 412, 'PreconditionFailed'), tookEffect: false },
  { name: '500 after', action: answer('after', 500, 'InternalError'), tookEffect: true },
  { name: '503 after', action: answer('after', 503, 'ServiceUnavailable'), tookEffect: true },
  { name: 'a reset after', action: { do: 'drop', when: 'after' }, tookEffect: true },
  { name: '412 after', action: answer('after', 412, 'PreconditionFailed'), tookEffect: true },
];

const written = [
  ['claim', '.apt-publish/bookworm.json'],
  ['commit', 'dists/bookworm/InRelease'],
] as const;

const stores: readonly (readonly [name: string, quirks: Quirks])[] = [
  ['as AWS', {}],
  ['as Ceph 16 with opaque ETags', { ...likenesses.ceph16, opaqueEtags: true }],
];

/** Of both: the visitor waits for it before it helps. */
const claimLimit = 2000;

/** The other publisher brings a package of its own, or the same one: then it only finishes what it finds. */
const visitors = ['with another package', 'with the same package'] as const;

describe('the answer to a conditional write is lost while somebody else comes', () => {
  for (const [storeName, quirks] of stores) {
    for (const [phase, key] of written) {
      for (const visitor of visitors) {
        test(`${phase} on a store ${storeName}, somebody else ${visitor}`, async (t) => {
          const failures: string[] = [];
          for (const fate of fates) {
            const point = { quirks, key, visitor, fate };
            await meet(point)
              .then(judge(point))
              .catch((error: unknown) => {
                failures.push(`${fate.name}: ${error instanceof Error ? error.message : error}`);
              });
          }
          t.diagnostic(`${fates.length} points tried`);
          assert.equal(failures.join('\n'), '');
        });
      }
    }
  }
});

test('a claim whose answer was lost and which somebody else has finished is not reported as "unchanged"', async (t) => {
  const [fate] = fates.filter(({ tookEffect }) => tookEffect);
  assert.ok(fate !== undefined);
  const point = { quirks: {}, key: '.apt-publish/bookworm.json', visitor: visitors[0], fate };
  const outcome = await meet(point);
  assert.equal(outcome?.changed, true);
  t.diagnostic('1 point tried');
});

interface Point {
  readonly quirks: Quirks;
  readonly key: string;
  readonly visitor: (typeof visitors)[number];
  readonly fate: Fate;
}

/** "Unchanged" may only be said by a run whose package somebody else has published before its claim took effect. */
function judge({ key, visitor, fate }: Point): (outcome: SuiteOutcome | undefined) => void {
  const claimed = key !== '.apt-publish/bookworm.json';
  if (!claimed && fate.tookEffect) return () => undefined;
  const publishedByThem = visitor === 'with the same package' && !claimed;
  return (outcome) => assert.equal(outcome?.changed, !publishedByThem, `changed: ${outcome?.changed}`);
}

/** One meeting of the two; resolves to what the one who was disturbed reports. Nothing is lost, and no head comes back. */
async function meet({ quirks, key, visitor, fate }: Point): Promise<SuiteOutcome | undefined> {
  await using bench = await Workbench.open(new TestClock(publishedAt), { quirks });
  const { bucket, debs } = bench;
  await bench.publish([suiteOf('bookworm', debs.add('base', { Package: 'base' }))]);
  const effects = new Effects(bucket);
  const ours = debs.add('ours', { Package: 'ours' });
  const theirs = visitor === 'with the same package' ? ours : debs.add('theirs', { Package: 'theirs' });
  const visit = () =>
    bench.publish([suiteOf('bookworm', theirs)], { store: { credentials: otherCredentials }, run: { claimLimit } });

  let met: 'not yet' | 'hit' | 'visited' = 'not yet';
  using _ = bench.server.intercept(async (request) => {
    if (request.accessKey !== rigCredentials.accessKeyId || met === 'visited') return undefined;
    const isTheWrite = request.verb === 'PUT' && request.key === key;
    if (met === 'not yet' && !isTheWrite) return undefined;
    if (fate.tookEffect && met === 'not yet') {
      met = 'hit';
      return fate.action;
    }
    // Beside a commit Release is written; what looks back comes after it.
    if (fate.tookEffect && request.verb === 'PUT' && !isTheWrite) return undefined;
    met = 'visited';
    await visit();
    return fate.tookEffect ? undefined : fate.action;
  });
  const [result] = await bench.run([suiteOf('bookworm', ours)], { run: { claimLimit } }).results;
  assert.equal(met, 'visited');
  await assertConsistent(bucket, keys);
  assert.deepEqual(effects.violations, []);
  const expected =
    visitor === 'with the same package' ? ['base 1.0', 'ours 1.0'] : ['base 1.0', 'ours 1.0', 'theirs 1.0'];
  assertPackages(bucket, 'bookworm', expected);
  const heads = effects.history('dists/bookworm/InRelease');
  const goneBack = heads.length - new Set(heads).size;
  counts.add('heads gone back', goneBack);
  assert.equal(goneBack, 0);
  return result?.outcome;
}

test('what was judged', (t) => t.diagnostic(`${counts}`));

import { poolRecordKey, recordKey } from '../../src/publish/layout.ts';
import type { PublishRequest } from '../../src/publish/request.ts';
import { changeSettings, Debs, suiteOf } from '../publish/publishing.ts';
import type { Finding } from '../publish/repository-check.ts';
import { day, type Publisher } from '../race/publishers.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { history, run, type World } from './mortal-run.ts';

/** A run, and the repository in which it begins. */
export interface Scenario {
  readonly title: string;
  readonly world: World;
  readonly request: Publisher['request'];
  /** What the repository may be in before the run has done its work. */
  readonly admits?: readonly Finding['rule'][];
  /** Set where a rerun after a commit does something again, rather than finding nothing to do. */
  readonly repeats?: true;
}

export const keys = await fixture('ed25519');
/** To be disposed of by every file of tests that imports this. */
export const debs = new Debs();

const hello = debs.add('hello', {}, { 'usr/bin/hello': 'hello' });
const other = debs.add('hello-other', {}, { 'usr/bin/hello': 'hello, other' });
const docs = debs.add('docs', { Package: 'docs', Architecture: 'all' }, { 'usr/share/doc/docs/a': 'a' });
const arm = debs.add('hello-arm', { Architecture: 'arm64' });
const named = (name: string) => debs.add(name, { Package: name });
const [two, three, four, five] = [named('two'), named('three'), named('four'), named('five')] as const;
/** Packages that no scenario publishes. */
export const strangers = [named('six'), named('seven')] as const;

let runs = 0;
export function publisher(request: Publisher['request']): Publisher {
  runs += 1;
  return { name: `publisher-${runs}`, keys, request };
}
const into = (suite: string, ...paths: string[]) => publisher({ suites: [suiteOf(suite, ...paths)] });
const replacing = (suite: string, ...paths: string[]) =>
  publisher({ suites: [suiteOf(suite, ...paths)], onConflict: 'replace' });
export const later = ({ objects, time }: World, by: number): World => ({ objects, time: time + by });

const claims = (suite: string) => (asked: string) => asked === `PUT ${recordKey(suite)}`;
/** What is there when such a run dies before, or right after, it claims. */
async function deadAtClaim(world: World, dying: Publisher, kind: 'before' | 'after', suite: string): Promise<World> {
  const { requests } = await run(world, dying);
  return run(world, dying, { kind, at: requests.findIndex(claims(suite)) + 1 });
}

export const empty: World = await history([]);
export const one = await history([into('sid', hello)]);
const withContents = await history([publisher({ suites: [suiteOf('sid', hello, docs)], contents: true })]);
const long = await history([into('sid', hello), into('sid', two), into('sid', three), into('sid', four)]);
const twoSuites = await history([into('sid', hello, docs), into('forky', two)]);
/** `hello` is in the pool, and no generation that is kept lists it any more. Suite forky lists what sid does, but for hello. */
const cleaning = later(
  await history([
    into('sid', hello),
    replacing('sid', other),
    into('forky', two),
    into('sid', two),
    into('sid', three),
    into('sid', four),
  ]),
  9 * day,
);
/** Somebody has staged an index, and died before the claim. */
const orphaned = later(await deadAtClaim(one, into('sid', three), 'before', 'sid'), day);
/** Somebody has claimed `hello` for forky and died, just when a cleaner had found that no suite lists it: the file is gone. */
const unfinishable = await (async (): Promise<World> => {
  const cleaned = await run(cleaning, into('sid', five));
  const claimed = await deadAtClaim(cleaning, into('forky', hello), 'after', 'forky');
  const objects = new Map([...cleaned.objects].filter(([key]) => !isOf('forky', key)));
  for (const [key, object] of claimed.objects) if (isOf('forky', key)) objects.set(key, object);
  if (!objects.has(poolRecordKey)) throw new Error('Nothing was cleaned.');
  return later({ objects, time: cleaned.time }, day);
})();

function isOf(suite: string, key: string): boolean {
  return key === recordKey(suite) || key.startsWith(`dists/${suite}/`);
}

/** A publish into two suites, one of which is new. */
export const intoTwo = {
  suites: [suiteOf('sid', two), suiteOf('forky', two, hello)],
} satisfies Partial<PublishRequest>;
const pattern = (name: string) => ({ patterns: [{ name }] });

/** An update of an ordinary suite: what single tests are about. */
export const update: Scenario = { title: 'an update', world: one, request: into('sid', two, docs, arm).request };
export const expiry: Scenario = {
  title: 'old generations that expire',
  world: later(long, 3 * day),
  request: into('sid', five).request,
};

export const scenarios: readonly Scenario[] = [
  { title: 'a first publish', world: empty, request: into('sid', hello, docs, arm).request },
  update,
  { title: 'a package that is replaced', world: one, request: replacing('sid', other).request },
  { title: 'several suites in one run', world: one, request: intoTwo },
  {
    title: 'Contents',
    world: withContents,
    request: { suites: [suiteOf('sid', two, other)], contents: true, onConflict: 'replace' },
  },
  { title: 'no change', world: one, request: into('sid', hello).request },
  {
    title: 'a new description alone',
    world: one,
    request: {
      suites: [suiteOf('sid', hello)],
      release: { origin: 'Example', label: 'Example', description: 'What this suite is for' },
    },
  },
  expiry,
  { title: 'pool files that are cleaned away', world: cleaning, request: into('sid', five).request },
  {
    title: 'a republish that finds orphans',
    world: orphaned,
    request: { command: 'republish', suites: [{ suite: 'sid' }], ...changeSettings },
    repeats: true,
  },
  {
    title: 'a removal that cleans the pool',
    world: cleaning,
    request: { command: 'remove', suites: [{ suite: 'sid' }], ...changeSettings, selection: pattern('two') },
  },
  {
    title: 'a promotion into an old suite and a new one',
    world: twoSuites,
    request: {
      command: 'promote',
      suites: [{ suite: 'forky' }, { suite: 'trixie' }],
      ...changeSettings,
      from: 'sid',
      selection: pattern('*'),
      moves: [],
      onConflict: 'error',
    },
  },
  {
    title: 'a rollback',
    world: long,
    request: {
      command: 'rollback',
      suites: [{ suite: 'sid' }],
      ...changeSettings,
      to: { kind: 'number', number: 2 },
    },
  },
  {
    title: 'a publish that has to give up the claim of another',
    world: unfinishable,
    request: into('forky', four).request,
    // The claim that is given up names a file that is gone, and its renames stay until those of the next claim: nobody commits it.
    admits: ['claimed-pool', 'canonical'],
  },
];

/** Every suite that a scenario is about. */
export function suitesOf({ request }: Scenario): string[] {
  return [...new Set(['sid', ...request.suites.map(({ suite }) => suite)])];
}

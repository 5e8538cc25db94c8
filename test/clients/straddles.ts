import { digest } from '../../src/publish/digest.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { complaints, type Naming, reader } from './readers.ts';
import type { States } from './states.ts';
import { type StraddlingServer, startStraddlingServer, type View } from './straddling-server.ts';

/** A way in which clients read a suite. */
export interface Reading {
  readonly title: string;
  readonly naming: Naming;
  /** Whether the client holds the state before the update. */
  readonly warm: boolean;
  /** Whether it reads Release and Release.gpg, since there is no InRelease for it. */
  readonly detached: boolean;
}

export interface Straddled {
  /** Ways of lying across the update. */
  readonly straddles: number;
  /** Different ones, as far as a client can see: each was tried with a real apt. */
  readonly tried: number;
  /** Straddles with which something went wrong, and apt's words. */
  readonly failures: ReadonlyMap<string, readonly string[]>;
}

const heads = ['InRelease', 'Release', 'Release.gpg'].map((name) => `dists/sid/${name}`);

/**
 * Lets a real apt-get update lie across an update in every way: it reads the head (or Release, then Release.gpg) in one state, and what that
 * names in a later one. Straddles in which every answer would be the same count as one, since the client would see no difference.
 */
export async function straddleAll(states: States, reading: Reading, keys: SigningKeys): Promise<Straddled> {
  await using server = await startStraddlingServer();
  const failures = new Map<string, string[]>();
  const known = new Map<string, string[]>();
  const straddles = reading.detached ? rising(states.length, 3) : rising(states.length, 2);
  for (const straddle of straddles) {
    const view = viewOf(states, straddle, reading);
    const seen = fingerprintOf(states, view);
    const complained = known.get(seen) ?? (await tryOut(server, states, view, reading, keys));
    known.set(seen, complained);
    if (complained.length > 0) failures.set(straddle.join('–'), complained);
  }
  return { straddles: straddles.length, tried: known.size, failures };
}

async function tryOut(
  server: StraddlingServer,
  states: States,
  view: View,
  { naming, warm, detached }: Reading,
  keys: SigningKeys,
): Promise<string[]> {
  await using client = await reader(server.url, naming, keys);
  if (warm) {
    server.show(viewOf(states, [0], { detached }));
    const early = await complaints(client);
    if (early.length > 0) throw new Error(`The state before the update cannot be read: ${early.join(' ')}`);
  }
  server.show(view);
  return await complaints(client);
}

/** `places`: the states of the head and of the rest, or of Release, Release.gpg and the rest. The last one stands for those that are left out. */
function viewOf(states: States, places: readonly number[], { detached }: Pick<Reading, 'detached'>): View {
  const at = (place: number) => states[places[place] ?? places.at(-1) ?? 0] ?? states[0];
  const [first, second, third] = [at(0), at(1), at(2)] as const;
  const hidden = new Map<string, Uint8Array>();
  return (path) => {
    if (!heads.includes(path)) return detached ? third : second;
    if (!detached) return first;
    if (path.endsWith('/InRelease')) return hidden;
    return path.endsWith('.gpg') ? second : first;
  };
}

/** What a client can be answered: it asks for nothing outside dists/. */
function fingerprintOf(states: States, view: View): string {
  const paths = new Set(states.flatMap((state) => [...state.keys()]).filter((key) => key.startsWith('dists/')));
  const answers = [...paths].sort().map((path) => {
    const body = view(path).get(path);
    return body === undefined ? '' : `${path} ${digest(body)}`;
  });
  return answers.join('\n');
}

/** Every rising sequence of `length` numbers below `limit`, equal neighbours allowed. */
function rising(limit: number, length: number): number[][] {
  let all: number[][] = [[]];
  for (let place = 0; place < length; place += 1) {
    all = all.flatMap((begun) => {
      const from = begun.at(-1) ?? 0;
      return Array.from({ length: limit - from }, (_, index) => [...begun, from + index]);
    });
  }
  return all;
}

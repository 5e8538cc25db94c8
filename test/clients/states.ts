import assert from 'node:assert/strict';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { history, run } from '../crash/mortal-run.ts';
import { suiteOf } from '../publish/publishing.ts';
import type { Snapshot } from '../publish/repository-check.ts';
import { bodies } from '../race/object-model.ts';
import type { Publisher } from '../race/publishers.ts';

/** An update as the store saw it: the state before, then one for every object that was written. */
export type States = readonly [Snapshot, ...Snapshot[]];

/** Publishes the files, the second batch as an update of the first, and records what the update writes. */
export async function recordUpdate(
  keys: SigningKeys,
  files: { readonly first: readonly string[]; readonly update: readonly string[] },
  concurrency: number,
): Promise<States> {
  const publisher = (name: string, paths: readonly string[]): Publisher => ({
    name,
    keys,
    concurrency,
    request: { suites: [suiteOf('sid', ...paths)], compression: ['gz', 'xz'], onConflict: 'replace' },
  });
  const before = await history([publisher('publisher-first', files.first)]);
  const { states, error } = await run(before, publisher('publisher-update', files.update));
  assert.equal(error, undefined);
  const [first, ...rest] = states.map(bodies);
  assert.ok(first !== undefined);
  return [first, ...rest];
}

/** The same writes in another order. `order` gives each write's place by its key; writes with equal places stay as they are. */
export function reordered(states: States, order: (key: string) => number): States {
  const [first] = states;
  const writes = states.slice(1).flatMap((state, index) => {
    const before = states[index] ?? first;
    return [...state].filter(([key, body]) => before.get(key) !== body);
  });
  const all: [Snapshot, ...Snapshot[]] = [first];
  let current = first;
  for (const write of writes.toSorted(([a], [b]) => order(a) - order(b))) {
    current = new Map([...current, write]);
    all.push(current);
  }
  return all;
}

import * as v from 'valibot';
import { Problem } from '../problem.ts';
import { listed, type ObjectStore } from '../store/object-store.ts';
import { ownAttributes } from './attributes.ts';
import { ownPrefix, suiteOfRecordKey, suitesKey } from './layout.ts';
import type { Phase, RunContext } from './run-context.ts';
import type { Conditions } from './suite-record.ts';
import { swap } from './swap.ts';

/**
 * The register of suites, `.apt-publish/suites`: whoever cleans the pool must see every suite, and a listing may lag behind. A suite
 * is entered before its first claim. Nothing is ever taken out; an entry without a record is a suite that was never claimed.
 */
const register = v.object({
  schema: v.literal('apt-publish/suites/1'),
  suites: v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(512))),
});

/** How often an entry is tried again because others enter theirs. */
const attempts = 50;

/** Enters all suites of a run at once, as far as they are not there yet. */
export async function enterSuites(
  run: RunContext,
  { store }: Pick<Phase, 'store'>,
  entering: readonly string[],
  conditions: Conditions,
): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const { suites, etag } = await readRegister(store);
    // One that is gone is made anew of what there is: nothing is ever removed for want of an entry.
    const known = etag === undefined ? await recordedSuites(store) : suites;
    const all = new Set([...known, ...entering]);
    if (etag !== undefined && all.size === suites.length) return;
    const entered = v.parse(register, { schema: 'apt-publish/suites/1', suites: [...all].sort() });
    const swapped = await swap(store, run.clock, conditions, {
      key: suitesKey,
      body: Buffer.from(`${JSON.stringify(entered, undefined, 1)}\n`),
      attributes: ownAttributes,
      expected: etag === undefined ? { absent: true } : { etag },
    });
    if (swapped.swapped) return;
    await run.clock.sleep(run.random() * 50 * Math.min(attempt, 10));
  }
  throw new Problem({
    code: 'suites-busy',
    title: 'Other publishers came first every time',
    what: `The register of suites was changed by others ${attempts} times while this run tried to enter ${entering.join(', ')}.`,
    advice: 'Run the job again.',
  });
}

/**
 * Every suite that has a record, or may be about to: one request, unless the register is gone or does not even know `own`. A listing may lag
 * behind, and lists much besides.
 */
export async function enteredSuites(store: ObjectStore, own: string): Promise<readonly string[]> {
  const { suites } = await readRegister(store);
  return suites.includes(own) ? suites : allSuites(store);
}

/** Every suite that is entered, and every one that a listing shows. */
export async function allSuites(store: ObjectStore): Promise<readonly string[]> {
  const { suites } = await readRegister(store);
  return [...new Set([...suites, ...(await recordedSuites(store))])];
}

async function recordedSuites(store: ObjectStore): Promise<string[]> {
  const suites: string[] = [];
  for await (const { key } of listed(store, ownPrefix)) {
    const suite = suiteOfRecordKey(key);
    if (suite !== undefined) suites.push(suite);
  }
  return suites;
}

async function readRegister(store: ObjectStore): Promise<{ suites: readonly string[]; etag: string | undefined }> {
  const object = await store.get(suitesKey);
  if (!object.found) return { suites: [], etag: undefined };
  const result = v.safeParse(register, parsed(object.body));
  if (result.success) return { suites: result.output.suites, etag: object.etag };
  throw new Problem({
    code: 'record-garbage',
    title: 'The register of suites cannot be read',
    what: `The register of suites (${suitesKey}) is not one that this version wrote.`,
    advice: 'Restore it from a backup of the bucket.',
  });
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

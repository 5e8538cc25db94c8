import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { byHashKey, canonicalKey, headKey, poolRecordKey, recordKey } from '../../src/publish/layout.ts';
import { parseSuiteRecord } from '../../src/publish/suite-record.ts';
import type { PutOptions } from '../../src/store/object-store.ts';
import { Debs, suiteOf } from '../publish/publishing.ts';
import { RepositoryCheck } from '../publish/repository-check.ts';
import { exploreSome, type Scenario } from './exploration.ts';
import { bodies, type Operation } from './object-model.ts';
import { day, history, type Publisher, race, takeUntil } from './publishers.ts';
import { commutes, nobodyLost } from './races.ts';

/**
 * The explorations must be able to fail. Each of these puts a store in front of every publisher that makes it break one rule of
 * the transaction, and the violation that follows must be found.
 */

const debs = new Debs();
after(() => debs[Symbol.dispose]());
const check = new RepositoryCheck();
const deb = (name: string) => debs.add(name, { Package: name });

type Through = NonNullable<Publisher['through']>;
const publisher = (name: string, through?: Through): Publisher => ({
  name,
  request: { suites: [suiteOf('sid', deb(name))] },
  ...(through === undefined ? {} : { through }),
});

const base = await history(['one', 'two', 'three', 'four'].map((name) => publisher(`publisher-${name}`)));
const world = { ...base, time: base.time + 2 * day };
const union = { alice: ['sid', 'alice_1.0_amd64.deb'], bob: ['sid', 'bob_1.0_amd64.deb'] } as const;
const record = recordKey('sid');
const head = headKey('sid', false);

function faulty(through: Through, more: Partial<Scenario> = {}): Scenario {
  return {
    check,
    begin: () => race(world, [publisher('alice', through), publisher('bob', through)], { patience: 200 }),
    isLocal: commutes,
    atEnd: nobodyLost(check, union),
    ...more,
  };
}

async function assertFound(scenario: Scenario, expected: RegExp): Promise<void> {
  const { violations } = await exploreSome(scenario, 1, 40);
  const found = violations.map(({ what }) => what);
  assert.ok(
    found.some((what) => expected.test(what)),
    `only found: ${found.join('; ')}`,
  );
}

describe('a fault is found when', () => {
  test('nothing is wrong, nothing is found', async () => {
    const { violations } = await exploreSome(
      faulty((store) => store),
      1,
      40,
    );
    assert.deepEqual(violations, []);
  });

  test('the claim has no condition', async () => {
    const through: Through = (store) => ({
      ...store,
      put: (key, body, { condition, ...options }: PutOptions) =>
        store.put(key, body, { ...options, ...(condition === undefined || key === record ? {} : { condition }) }),
    });
    await assertFound(faulty(through), /is not in sid|invariant 4/);
  });

  test('the claim comes before the stage', async () => {
    const through: Through = (store) => {
      const held: (() => Promise<unknown>)[] = [];
      return {
        ...store,
        put: async (key, body, options) => {
          if (key.includes('/by-hash/')) {
            held.push(() => store.put(key, body, options));
            return { written: true };
          }
          const answer = await store.put(key, body, options);
          if (key === record) for (const put of held.splice(0)) await put();
          return answer;
        },
      };
    };
    await assertFound(faulty(through), /invariant 2 \(by-hash\): the record/);
  });

  test('the rename comes before the claim', async () => {
    const through: Through = (store) => ({
      ...store,
      put: async (key, body, options) => {
        const answer = await store.put(key, body, options);
        if (key.includes('/by-hash/'))
          await store.copy(key, canonicalKey('sid', 'main/binary-amd64/Packages.gz'), options);
        return answer;
      },
    });
    await assertFound(faulty(through), /invariant 1 \(canonical\)/);
  });

  test('the commit comes before the rename', async () => {
    const through: Through = (store) => ({
      ...store,
      copy: async (from, to, attributes) => {
        const claimed = await store.get(record);
        const text = claimed.found ? parseSuiteRecord(claimed.body, 'sid').generation.head : '';
        await store.put(head, Buffer.from(text), attributes);
        return store.copy(from, to, attributes);
      },
    });
    await assertFound(faulty(through), /invariant 1 \(canonical\)/);
  });

  test('what is replaced is deleted before its grace is over', async () => {
    const through: Through = (store) => ({
      ...store,
      put: async (key, body, options) => {
        const answer = await store.put(key, body, options);
        const object = key === head ? await store.get(record) : undefined;
        if (object?.found === true) {
          const { kept } = parseSuiteRecord(object.body, 'sid');
          const [dropped] = kept[0]?.dropped ?? [];
          if (dropped !== undefined) await store.delete([byHashKey('sid', dropped.path, dropped.sha256)]);
        }
        return answer;
      },
    });
    await assertFound(faulty(through), /invariant 2 \(by-hash\): kept generation/);
  });

  test('the head is written without a condition', async () => {
    const through: Through = (store) => ({
      ...store,
      put: (key, body, { condition, ...options }: PutOptions) =>
        store.put(key, body, { ...options, ...(condition === undefined || key === head ? {} : { condition }) }),
    });
    const found = await afterMidRequest(through, ({ verb, key }) => verb === 'COPY' && key.startsWith('dists/'));
    assert.match(found, /invariant 4 \(head\): the head of sid went from generation \d+ to \d+/);
  });

  test('an overtaken publisher restores nothing', async () => {
    const poolLook = ({ verb, key }: Operation<unknown>) => verb === 'GET' && key === poolRecordKey;
    const afterClaim = async (through?: Through) =>
      afterMidRequest(through, poolLook, ({ verb, key }) => verb === 'PUT' && key === record);
    assert.equal(await afterClaim(), '', 'with restoring, nothing is wrong at the end');
    assert.match(await afterClaim(restoresNothing), /invariant 1 \(canonical\)/);
  });
});

/**
 * What is wrong at the end when a publisher freezes in mid-request, right after one that `reached` knows (and after one that
 * `before` knows), and another has finished its claim and published in the meantime.
 */
async function afterMidRequest(
  through: Through | undefined,
  reached: (request: Operation<unknown>) => boolean,
  before?: (request: Operation<unknown>) => boolean,
): Promise<string> {
  const stepper = race(world, [publisher('alice', through), publisher('bob', through)], { patience: Infinity });
  if (before !== undefined) await takeUntil(stepper, 0, before);
  await takeUntil(stepper, 0, reached);
  await takeUntil(stepper, 1);
  const between = bodies(stepper.objects);
  const found = await check.findings(between, true);
  await takeUntil(stepper, 0);
  const last = bodies(stepper.objects);
  found.push(...(await check.findings(last, true)), ...check.headsGoneBack(between, last));
  return found.map(({ invariant, rule, what }) => `invariant ${invariant} (${rule}): ${what}`).join('\n');
}

/** From when it sees another's claim in the record until it claims again, a publisher writes no name. */
const restoresNothing: Through = (store) => {
  let own: string | undefined;
  let overtaken = false;
  return {
    ...store,
    get: async (key) => {
      const object = await store.get(key);
      if (key === record && object.found && own !== undefined) {
        overtaken = parseSuiteRecord(object.body, 'sid').claim.run !== own;
      }
      return object;
    },
    put: (key, body, options) => {
      if (key === record) {
        own = parseSuiteRecord(body, 'sid').claim.run;
        overtaken = false;
      }
      return store.put(key, body, options);
    },
    copy: async (from, to, attributes) => (overtaken ? { written: true } : store.copy(from, to, attributes)),
  };
};

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Problem } from '../../src/problem.ts';
import { suiteOfRecordKey } from '../../src/publish/layout.ts';
import { parseSuiteRecord, renderSuiteRecord } from '../../src/publish/suite-record.ts';
import { run, type World } from './mortal-run.ts';
import { Readers } from './readers.ts';
import { debs, keys, scenarios, suitesOf } from './scenarios.ts';

after(() => debs[Symbol.dispose]());

/** The same repository, whose records carry no indexes: every one that is needed has to be read. */
function withoutEmbedded({ objects, time }: World): World {
  const bare = [...objects].map(([key, object]) => {
    const suite = suiteOfRecordKey(key);
    if (suite === undefined) return [key, object] as const;
    const body = renderSuiteRecord({ ...parseSuiteRecord(object.body, suite), embedded: {} });
    return [key, { ...object, body }] as const;
  });
  return { objects: new Map(bare), time };
}

/** What somebody might answer who wants packages of his fetched: a list of the same size; of anything else, half. */
function changed(body: Uint8Array): Uint8Array {
  const list = body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body).toString() : '';
  const evil = list.replaceAll('Filename: pool/', 'Filename: evil/');
  return evil === list ? body.subarray(0, body.length >> 1) : gzipSync(evil);
}

describe('invariant 5 holds when a run is given other bytes than are published', () => {
  let refused = 0;
  for (const scenario of scenarios) {
    const { title, request, admits } = scenario;
    test(`at any request of ${title}`, async (t) => {
      const readers = new Readers();
      const world = withoutEmbedded(scenario.world);
      const suites = suitesOf(scenario);
      const alice = { name: 'publisher-alice', keys, request };
      const undisturbed = await run(world, alice);
      const right = await readers.packages(undisturbed, suites);
      for (const [index, asked] of undisturbed.requests.entries()) {
        if (!asked.startsWith('GET ')) continue;
        const where = `other bytes at request ${index + 1}, ${asked}`;
        const deceived = await run(world, alice, { kind: 'other bytes', at: index + 1, change: changed });
        await readers.assertSound(deceived.states, where, admits);
        const { error } = deceived;
        if (error === undefined) readers.assertPackages(await readers.packages(deceived, suites), [right], where);
        else assert.ok(error instanceof Problem, `${where}: ${error}`);
        if (error instanceof Problem && error.code === 'index-changed') refused += 1;
        readers.counts.add('points tried');
      }
      t.diagnostic(`${readers.counts}`);
    });
  }

  test('and indexes were among them', () => {
    assert.ok(refused > 5, `${refused} indexes were refused`);
  });
});

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { run } from './mortal-run.ts';
import { Readers } from './readers.ts';
import { differences } from './same-state.ts';
import { debs, keys, scenarios } from './scenarios.ts';

after(() => debs[Symbol.dispose]());

describe('a run lives on when an answer is lost', () => {
  for (const { title, world, request, admits } of scenarios) {
    test(`at any request of ${title}`, async (t) => {
      const readers = new Readers();
      const alice = { name: 'publisher-alice', keys, request };
      const undisturbed = await run(world, alice);
      for (const [index, asked] of undisturbed.requests.entries()) {
        const disturbed = await run(world, alice, { kind: 'lost', at: index + 1 });
        const where = `no answer to request ${index + 1}, ${asked}`;
        assert.equal(disturbed.error, undefined, where);
        await readers.assertSound(disturbed.states, where, admits);
        await readers.assertEnded(disturbed, where);
        assert.deepEqual(differences(disturbed.objects, undisturbed.objects, new Set()), [], where);
        readers.counts.add('points tried');
      }
      t.diagnostic(`${readers.counts}`);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { suitesKey } from '../../src/publish/layout.ts';
import { suiteOf } from './publishing.ts';
import { Repository } from './repository.ts';

const day = 24 * 3_600_000;
const file = 'pool/main/h/hello/hello_1.0_amd64.deb';

/** Two suites list one file; one of them has un-listed it eight days ago, and no longer keeps a generation that had it. */
async function shared() {
  const repository = new Repository();
  const { debs } = repository;
  const hello = debs.add('hello');
  await repository.publish([suiteOf('bookworm', hello), suiteOf('trixie', hello)]);
  await repository.publish([suiteOf('bookworm', debs.add('other', { Package: 'other' }))]);
  await repository.remove('bookworm', ['hello']);
  for (const name of ['a1', 'b1']) await repository.publish([suiteOf('bookworm', debs.add(name, { Package: name }))]);
  await repository.clock.sleep(8 * day);
  return repository;
}

function entered(text: string): unknown {
  return JSON.parse(text).suites;
}

describe('the register of suites', () => {
  test('gets all suites of a run by one write, before their first claims', async () => {
    using repository = new Repository();
    const hello = repository.debs.add('hello');
    const names = Array.from({ length: 200 }, (_, index) => `suite-${index}`);
    const { requests, recorder } = await repository.publish(names.map((name) => suiteOf(name, hello)));
    assert.deepEqual(entered(await repository.text(suitesKey)), names.toSorted());
    const entering = new Set(
      recorder.phases.flatMap(({ id, name, suite }) => (name === 'upload' && suite === undefined ? [id] : [])),
    );
    const writes = requests.filter(
      ({ phase, verb, object }) => entering.has(phase) && verb === 'PUT' && object === 'other',
    );
    assert.equal(writes.length, 1);
  });

  test('is made anew of the records when it is gone, before a suite is added', async () => {
    using repository = await shared();
    await repository.store.delete([suitesKey]);
    await repository.publish([suiteOf('sid', repository.debs.add('new', { Package: 'new' }))]);
    assert.deepEqual(entered(await repository.text(suitesKey)), ['bookworm', 'sid', 'trixie']);
  });

  for (const gone of [true, false])
    test(`${gone ? 'that is gone' : 'as it should be'} never costs a file that another suite lists`, async () => {
      using repository = await shared();
      if (gone) await repository.store.delete([suitesKey]);
      const { requests, warnings } = await repository.publish([
        suiteOf('bookworm', repository.debs.add('c1', { Package: 'c1' })),
      ]);
      assert.deepEqual(warnings, []);
      assert.ok((await repository.keys('pool/')).includes(file));
      assert.equal(
        requests.some(({ verb }) => verb === 'LIST'),
        gone,
      );
    });
});

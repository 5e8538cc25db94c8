import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { Debs, suiteOf } from '../publish/publishing.ts';
import { TestClock } from '../store/clocks.ts';
import { type Objects, storeOver } from './object-model.ts';
import { day, publishAs } from './publishers.ts';

test('the model answers every request of a publisher, and of a cleaner, as the memory store does', async () => {
  using debs = new Debs();
  const clock = new TestClock();
  const memory = new MemoryStore({ clock });
  let objects: Objects = new Map();
  let answers = 0;
  const model = storeOver(async (operation) => {
    const { answer, objects: next } = operation.apply(objects, clock.now());
    objects = next;
    return answer;
  });
  const both = async <Answer>(ask: (store: ObjectStore) => Promise<Answer>): Promise<Answer> => {
    const [expected, answer] = [await ask(memory), await ask(model)];
    assert.deepEqual(answer, expected);
    answers += 1;
    return answer;
  };
  const store: ObjectStore = {
    ...model,
    get: (key) => both((each) => each.get(key)),
    head: (key) => both((each) => each.head(key)),
    put: (key, body, options) => both((each) => each.put(key, body, options)),
    copy: (from, to, attributes) => both((each) => each.copy(from, to, attributes)),
    listPage: (prefix, from) => both((each) => each.listPage(prefix, from)),
    delete: (keys) => both((each) => each.delete(keys)),
  };
  for (const content of ['a', 'b', 'c', 'd', 'e']) {
    const paths = [debs.add('hello', {}, { 'usr/bin/hello': content })];
    const request = { suites: [suiteOf('sid', ...paths)], onConflict: 'replace' } as const;
    await publishAs({ name: `publisher-${content}`, request }, store, clock);
    await clock.sleep(9 * day);
  }
  assert.ok(answers > 60, `${answers} answers`);
  assert.equal(objects.has('pool/main/h/hello/hello_1.0_amd64.deb'), false, 'something was cleaned');
});

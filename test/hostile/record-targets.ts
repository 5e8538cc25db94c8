import assert from 'node:assert/strict';
import { parsePoolRecord, renderPoolRecord } from '../../src/publish/pool-record.ts';
import { parseSuiteRecord, renderSuiteRecord } from '../../src/publish/suite-record.ts';
import type { Generator } from '../debian/generator.ts';
import { suiteOf } from '../publish/publishing.ts';
import { Repository } from '../publish/repository.ts';
import { type Dictionary, mutated } from './mutation.ts';
import type { Target } from './target.ts';

/** Records as a few publishes leave them: packages came, were replaced and were added to. */
async function samples(): Promise<{ suite: unknown; pool: unknown }> {
  using repository = new Repository();
  const { debs, store } = repository;
  await repository.publish([
    suiteOf('bookworm', debs.add('one'), debs.add('all', { Package: 'docs', Architecture: 'all' })),
  ]);
  const other = debs.add('other', { Description: 'says something else' });
  await repository.publish([suiteOf('bookworm', other)], { onConflict: 'replace' });
  await repository.publish([suiteOf('bookworm', debs.add('two', { Version: '2' }))], { keepDays: 30 });
  const record = await store.get('.apt-publish/bookworm.json');
  assert.ok(record.found);
  return {
    suite: JSON.parse(Buffer.from(record.body).toString()),
    pool: {
      schema: 'apt-publish/pool/1',
      version: 3,
      condemned: ['pool/main/h/hello/hello_1.0_amd64.deb'],
      cleaner: { run: 'run-12345678', limitSeconds: 60 },
      settled: [{ filename: 'pool/main/h/hello/hello_0.9_amd64.deb', at: '2026-01-01T00:00:00.000Z' }],
    },
  };
}

const sample = await samples();

const values: readonly [unknown, ...unknown[]] = [
  null,
  true,
  -1,
  0.5,
  1e300,
  9007199254740991,
  '',
  '..',
  'pool/../x',
  '/etc/passwd',
  'a//b',
  'a\\..\\b',
  'pool/\n/x',
  [],
  {},
  [[]],
  { __proto__: null, length: 1 },
  'x'.repeat(1100),
  'trixie',
];

const dictionary: Dictionary = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  '__proto__',
  '"constructor":{}',
  '../',
  '\\u0000',
  '\\ud800',
  '1e999',
  '<html>',
];

/** The document with another value, a missing member or one too many somewhere in it; now and then with other bytes. */
function changedJson(document: unknown, generator: Generator): Buffer {
  const copy: unknown = structuredClone(document);
  const places: { holder: Record<string, unknown>; name: string }[] = [];
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const holder = value as Record<string, unknown>;
    for (const name of Object.keys(holder)) {
      places.push({ holder, name });
      collect(holder[name]);
    }
  };
  collect(copy);
  for (let round = generator.below(3); round >= 0; round -= 1) {
    const place = places[generator.below(places.length)];
    if (place === undefined) continue;
    const what = generator.below(4);
    if (what === 0) delete place.holder[place.name];
    else if (what === 1) place.holder[`${place.name}2`] = place.holder[place.name];
    else place.holder[place.name] = generator.of(values);
  }
  const text = Buffer.from(JSON.stringify(copy, undefined, 1));
  return generator.below(4) === 0 ? mutated(text, generator, dictionary) : text;
}

/** What a record names may be copied and deleted: it must stay in its folder. */
function assertInside(paths: readonly string[]): void {
  for (const path of paths) {
    assert.ok(!path.split('/').some((part) => part === '' || part === '.' || part === '..'), JSON.stringify(path));
  }
}

const suite: Target = {
  name: 'suite-record',
  cost: 0.3,
  make: (generator) => changedJson(sample.suite, generator),
  check(input) {
    const record = parseSuiteRecord(input, 'bookworm');
    const { generation, kept, condemned, unlisted } = record;
    const indexes = [...generation.renames, ...condemned, ...record.fading, ...kept.flatMap(({ dropped }) => dropped)];
    assertInside([
      ...generation.added,
      ...indexes.map(({ path }) => path),
      ...unlisted.map(({ filename }) => filename),
    ]);
    const versions = record.superseded?.flatMap((each) => each.versions) ?? [];
    for (const name of versions) assert.match(name, /^\P{C}+$/u);
    const rendered = renderSuiteRecord(record);
    assert.deepEqual(renderSuiteRecord(parseSuiteRecord(rendered, 'bookworm')), rendered);
  },
};

const pool: Target = {
  name: 'pool-record',
  cost: 0.3,
  make: (generator) => changedJson(sample.pool, generator),
  check(input) {
    const record = parsePoolRecord(input);
    assertInside([...record.condemned, ...record.settled.map(({ filename }) => filename)]);
    const rendered = renderPoolRecord(record);
    assert.deepEqual(renderPoolRecord(parsePoolRecord(rendered)), rendered);
  },
};

export const recordTargets: readonly Target[] = [suite, pool];

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { indexesOf } from '../../src/report/index-table.ts';
import { fitted } from '../../src/report/page.ts';
import type { IndexFile, RunRecord } from '../../src/timing/record.ts';
import { sampleRecord } from '../timing/record-samples.ts';

function rows(...suites: (readonly IndexFile[])[]): string[] {
  const [sample] = sampleRecord.suites;
  assert.ok(sample);
  const record: RunRecord = {
    ...sampleRecord,
    suites: suites.map((indexes, index) => ({ ...sample, suite: `s${index}`, indexes })),
  };
  const page = fitted([indexesOf(record)], [], 1e6).replaceAll('&nbsp;', ' ');
  return page.split('\n').filter((line) => line.startsWith('| <code>'));
}

suite('the table of indexes', () => {
  test('says what each has grown by and through which packages, what has grown most first', () => {
    const contents = {
      path: 'main/Contents-amd64.gz',
      size: 108_000,
      previousSize: 4000,
      contributors: [
        { package: 'icons', amount: 19_500, unit: 'paths' },
        { package: 'hello', amount: 1, unit: 'paths' },
      ],
    } as const;
    const packages = {
      path: 'main/binary-amd64/Packages.xz',
      size: 900,
      previousSize: 1000,
      contributors: [{ package: 'icons', amount: 358, unit: 'bytes' }],
    } as const;
    assert.deepEqual(rows([packages, contents]), [
      '| <code>main/Contents-amd64.gz</code> | 108 kB | +104 kB | <code>icons</code> 19,500 paths and <code>hello</code> 1 path |',
      '| <code>main/binary-amd64/Packages.xz</code> | 900 B | −100 B | <code>icons</code> 358 B |',
    ]);
  });

  test('says which are new, and of which suite each is where there are several', () => {
    const file = { path: 'main/binary-amd64/Packages.gz', size: 1200 };
    assert.deepEqual(rows([file], [{ ...file, previousSize: 1200 }]), [
      '| <code>s0 main/binary-amd64/Packages.gz</code> | 1.2 kB | new | – |',
      '| <code>s1 main/binary-amd64/Packages.gz</code> | 1.2 kB | ±0 B | – |',
    ]);
  });

  test('is folded when it is long, and absent when nothing was written', () => {
    const many = Array.from({ length: 25 }, (_, index) => ({ path: `main/${index}`, size: index }));
    assert.equal(rows(many).length, 25);
    assert.deepEqual(rows([]), []);
  });
});

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  type ArrivingStanza,
  entryFields,
  entryValue,
  type IndexEntry,
  mergeEntries,
  scanStanzas,
} from '../../src/debian/stanza-index.ts';
import { run } from './debian-tools.ts';
import { Generator } from './generator.ts';

const origin = 'dists/s/main/binary-amd64/Packages';
const realIndex =
  '/var/lib/apt/lists/deb.debian.org_debian-security_dists_bookworm-security_main_binary-amd64_Packages.lz4';
const none = { add: [], remove: new Set<IndexEntry>() };

describe('scanning an index', () => {
  it('finds every stanza with its name and its range, the blank line included', () => {
    const text = `${stanza('a', '1')}${stanza('b', '1:2-3', 'all')}`;
    assert.deepEqual(scan(text), [
      { package: 'a', version: '1', architecture: 'amd64', start: 0, end: stanza('a', '1').length },
      { package: 'b', version: '1:2-3', architecture: 'all', start: stanza('a', '1').length, end: text.length },
    ]);
  });

  it('finds nothing in an index that is empty or blank', () => {
    assert.deepEqual(scan(''), []);
    assert.deepEqual(scan('\n\n\n'), []);
  });

  it('reads fields in any order and any case, with tabs, blanks or nothing after the colon', () => {
    const [entry] = scan('Description: x\n Package: not-me\nversion:2\nARCHITECTURE:\tarm64 \nPackage:   odd\n\n');
    assert.deepEqual(pick(entry), { package: 'odd', version: '2', architecture: 'arm64' });
  });

  it('does not take Package-Type, Package-List or a continuation line for Package', () => {
    const [entry] = scan('Package-Type: udeb\nX-Package: no\nPackage: yes\nVersion: 1\nPackage-List:\n Version: 9\n\n');
    assert.deepEqual(pick(entry), { package: 'yes', version: '1', architecture: '' });
  });

  it('tolerates missing and surplus blank lines', () => {
    const text = `\n\n${stanza('a', '1')}\n\n${stanza('b', '1')}${stanza('c', '1').trimEnd()}`;
    const entries = scan(text);
    assert.deepEqual(
      entries.map((entry) => entry.package),
      ['a', 'b', 'c'],
    );
    assert.equal(entries.at(-1)?.end, text.length);
  });

  it('takes a line of blanks for part of the stanza, as apt does', () => {
    assert.equal(scan('Package: a\nVersion: 1\nDescription: x\n \n more\nSection: misc\n\n').length, 1);
  });

  it('reads a view into a larger buffer without looking beyond it', () => {
    const whole = Buffer.from(`XX${stanza('a', '1')}Package: beyond\n`);
    const view = whole.subarray(2, 2 + stanza('a', '1').length);
    assert.deepEqual(
      scanStanzas(view, origin).map((entry) => entry.package),
      ['a'],
    );
  });

  it('refuses a stanza without Package or Version and says where', () => {
    for (const [text, message] of [
      [`${stanza('a', '1')}Version: 1\n\n`, /The stanza at byte 61 of dists.*Packages has no Package/],
      ['Package: a\nArchitecture: all\n\n', /The stanza of "a" at byte 0 of dists.*Packages has no Version/],
      ['Package: a\nVersion:\n\n', /has no Version/],
      ['Package:\nVersion: 1\n\n', /has no Package/],
    ] as const) {
      assert.throws(() => scan(text), { code: 'index-stanza-incomplete', message });
    }
  });

  it('refuses CRLF, in which all stanzas would seem to be one', () => {
    const text = `${stanza('a', '1')}${stanza('b', '1')}`.replaceAll('\n', '\r\n');
    assert.throws(() => scan(text), { code: 'index-line-ends', message: /Packages/ });
  });

  it('gives the fields of one entry on demand, and single values without parsing', () => {
    const text = `${stanza('a', '1')}Package: b\nVersion: 2\nDescription: zwei\n  ganz\n .\n lang ü\nsha256: AB\n\n`;
    const index = Buffer.from(text);
    const entry = scanStanzas(index, origin)[1];
    assert.ok(entry);
    assert.deepEqual(entryFields(index, entry), [
      { name: 'Package', value: 'b' },
      { name: 'Version', value: '2' },
      { name: 'Description', value: 'zwei\n  ganz\n .\n lang ü' },
      { name: 'sha256', value: 'AB' },
    ]);
    assert.equal(entryValue(index, entry, 'SHA256'), 'AB');
    assert.equal(entryValue(index, entry, 'Filename'), undefined);
  });

  it('finds every stanza of a real archive, and a merge without changes leaves its bytes', {
    skip: realIndexFault(),
  }, () => {
    const index = run('/usr/lib/apt/apt-helper', ['cat-file', realIndex]);
    const entries = scan(index);
    const expected = index.matchAll(/^Package: (.*)$/gm);
    assert.deepEqual(
      entries.map((entry) => entry.package),
      [...expected].map((match) => match[1]),
    );
    assert.equal(Buffer.from(mergeEntries(Buffer.from(index), entries, none)).toString(), index);
  });
});

describe('merging an index', () => {
  it('carries stanzas byte for byte and puts new ones in by name, version and architecture', () => {
    const old = [stanza('b', '1.0'), stanza('b', '1.0-1', 'arm64'), stanza('d', '1')].join('');
    const merged = merge(old, {
      add: [
        ['c', '1'],
        ['b', '1.0-1'],
        ['b', '1.0~rc1'],
        ['a', '9'],
        ['e', '1'],
      ],
    });
    assert.equal(
      merged,
      [
        stanza('a', '9'),
        stanza('b', '1.0~rc1'),
        stanza('b', '1.0'),
        stanza('b', '1.0-1'),
        stanza('b', '1.0-1', 'arm64'),
        stanza('c', '1'),
        stanza('d', '1'),
        stanza('e', '1'),
      ].join(''),
    );
  });

  it('orders names by bytes and versions as Debian does, not as text', () => {
    const merged = merge('', {
      add: [
        ['lib', '1.10'],
        ['lib', '1.9'],
        ['lib+', '1'],
        ['lib-a', '1'],
        ['lib2', '1'],
        ['lib', '1:0'],
      ],
    });
    assert.deepEqual(
      scan(merged).map((entry) => `${entry.package} ${entry.version}`),
      ['lib 1.9', 'lib 1.10', 'lib 1:0', 'lib+ 1', 'lib-a 1', 'lib2 1'],
    );
  });

  it('keeps the order of a foreign index and puts a new stanza before the first greater one', () => {
    const old = [stanza('a', '1'), stanza('m', '1'), stanza('c', '1'), stanza('z', '1'), stanza('b', '1')].join('');
    const merged = merge(old, {
      add: [
        ['k', '1'],
        ['d', '1'],
        ['zz', '1'],
      ],
    });
    assert.deepEqual(
      scan(merged).map((entry) => entry.package),
      ['a', 'd', 'k', 'm', 'c', 'z', 'b', 'zz'],
    );
  });

  it('removes first, last, neighbouring and all stanzas', () => {
    const all = ['a', 'b', 'c', 'd'];
    for (const gone of [['a'], ['d'], ['b', 'c'], ['a', 'c'], all]) {
      const merged = merge(all.map((name) => stanza(name, '1')).join(''), { remove: gone });
      assert.equal(
        merged,
        all
          .filter((name) => !gone.includes(name))
          .map((name) => stanza(name, '1'))
          .join(''),
      );
    }
  });

  it('replaces a stanza in its place', () => {
    const merged = merge([stanza('a', '1'), stanza('b', '1'), stanza('c', '1')].join(''), {
      add: [['b', '2']],
      remove: ['b'],
    });
    assert.equal(merged, [stanza('a', '1'), stanza('b', '2'), stanza('c', '1')].join(''));
  });

  it('ends every stanza in exactly one blank line, whatever the old index and the new bytes end in', () => {
    const bare = stanza('b', '1').trimEnd();
    for (const ending of ['', '\n', '\n\n', '\n\n\n\n']) {
      const old = `\n${stanza('a', '1')}\n\n${bare}${ending}`;
      for (const add of [[], [['c', '1']], [['aa', '1']]] as [string, string][][]) {
        const merged = merge(old, { add, strip: true });
        assert.match(merged, /^P.*[^\n]\n\n$/s);
        assert.doesNotMatch(merged, /\n\n\n/);
        assert.equal(scan(merged).length, 2 + add.length);
      }
    }
  });

  it('takes a Packages of 60 MB with a stanza of 76 kB in its stride', () => {
    const filler = `${'libdependency-of-some-length (>= 1.2.3), '.repeat(18)}\n`;
    const names = Array.from({ length: 76_000 }, (_, i) => `package-${String(i).padStart(6, '0')}`);
    const texts = names.map((name) => stanza(name, '1').replace('Description', `Depends: ${filler}Description`));
    texts[40_000] = stanza(names[40_000] ?? '', '1').replace('x\n', `${'x'.repeat(76_000)}\n`);
    const old = texts.join('');
    assert.ok(old.length > 60_000_000);
    const merged = merge(old, { add: [['package-039999a', '1']], remove: ['package-040000'] });
    texts[40_000] = stanza('package-039999a', '1');
    assert.ok(merged === texts.join(''));
  });

  it('gives the same bytes for any sequence of merges as for all stanzas at once', () => {
    const random = new Generator(3);
    for (let round = 0; round < 60; round += 1) {
      const universe = new Map<string, ArrivingStanza>();
      for (let i = 0; i < 40; i += 1) {
        const made = arriving(
          random.of(['a', 'ab', 'a+', 'a-b', 'b', 'z9']),
          random.of(['1', '1.0', '1.00', '1.0-0', '1~', '1:0', '10']),
          random.of(['all', 'amd64', 'arm64']),
        );
        universe.set(`${made.package} ${made.version} ${made.architecture}`, made);
      }
      let index: Uint8Array = Buffer.alloc(0);
      const listed = new Set<string>();
      for (let step = 0; step < 8; step += 1) {
        const some = random.shuffled([...universe.keys()]).slice(0, random.below(universe.size));
        const entries = scanStanzas(index, origin);
        const remove = new Set(entries.filter((entry) => some.includes(keyOf(entry)) && random.below(2) === 0));
        for (const entry of remove) listed.delete(keyOf(entry));
        const add = some
          .filter((key) => !listed.has(key))
          .map((key) => universe.get(key))
          .filter((made) => made !== undefined);
        for (const made of add) listed.add(keyOf(made));
        index = mergeEntries(index, entries, { add, remove });
      }
      const add = random.shuffled([...universe.values()]).filter((made) => listed.has(keyOf(made)));
      const atOnce = mergeEntries(Buffer.alloc(0), [], { add, remove: new Set() });
      assert.equal(Buffer.from(index).toString(), Buffer.from(atOnce).toString(), `round ${round}`);
    }
  });
});

function realIndexFault(): string | false {
  return existsSync(realIndex) && existsSync('/usr/lib/apt/apt-helper') ? false : 'apt has no lists here';
}

function scan(text: string): IndexEntry[] {
  return scanStanzas(Buffer.from(text), origin);
}

function stanza(name: string, version: string, architecture = 'amd64'): string {
  return `Package: ${name}\nVersion: ${version}\nArchitecture: ${architecture}\nDescription: x\n y\n\n`;
}

function arriving(name: string, version: string, architecture = 'amd64'): ArrivingStanza {
  return { package: name, version, architecture, bytes: Buffer.from(stanza(name, version, architecture)) };
}

function keyOf(key: Pick<IndexEntry, 'package' | 'version' | 'architecture'>): string {
  return `${key.package} ${key.version} ${key.architecture}`;
}

function pick(entry: IndexEntry | undefined) {
  assert.ok(entry);
  return { package: entry.package, version: entry.version, architecture: entry.architecture };
}

/** `strip` takes the final newlines off the new stanzas, as a stanza from the end of a foreign index may lack them. */
function merge(old: string, changes: { add?: [string, string][]; remove?: string[]; strip?: boolean }): string {
  const entries = scan(old);
  const add = (changes.add ?? []).map(([name, version]) => arriving(name, version));
  const merged = mergeEntries(Buffer.from(old), entries, {
    add: changes.strip ? add.map((made) => ({ ...made, bytes: made.bytes.subarray(0, -2) })) : add,
    remove: new Set(entries.filter((entry) => changes.remove?.includes(entry.package))),
  });
  return Buffer.from(merged).toString();
}

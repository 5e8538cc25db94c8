import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextDate, parseReleaseDate, releaseDate } from '../../src/debian/release-date.ts';
import { needs, run } from './debian-tools.ts';
import { Generator } from './generator.ts';

const moment = Date.UTC(2023, 10, 14, 22, 13, 20);

describe('the date of a Release', () => {
  it('is RFC 1123 in UTC, with parts of a second dropped', () => {
    assert.equal(releaseDate(moment), 'Tue, 14 Nov 2023 22:13:20 UTC');
    assert.equal(releaseDate(moment + 999), 'Tue, 14 Nov 2023 22:13:20 UTC');
    assert.equal(releaseDate(Date.UTC(2026, 0, 1)), 'Thu, 01 Jan 2026 00:00:00 UTC');
    assert.equal(releaseDate(0), 'Thu, 01 Jan 1970 00:00:00 UTC');
  });

  it('is what date(1) says, and reads back to the same moment', needs('date'), () => {
    const random = new Generator(11);
    const moments = Array.from({ length: 200 }, () => random.below(2 ** 32) * 1000);
    const input = Buffer.from(moments.map((ms) => `@${ms / 1000}\n`).join(''));
    const expected = run('date', ['--utc', '--file=-', '+%a, %d %b %Y %H:%M:%S UTC'], { input }).trim().split('\n');
    assert.deepEqual(moments.map(releaseDate), expected);
    assert.deepEqual(expected.map(parseReleaseDate), moments);
  });

  it('is read as dak, apt-ftparchive, reprepro and aptly write it', () => {
    for (const text of [
      'Tue, 14 Nov 2023 22:13:20 UTC',
      'Tue, 14 Nov 2023 22:13:20 +0000',
      'Tue, 14 Nov 2023 22:13:20 GMT',
      'Tue, 14 Nov 2023 22:13:20 Z',
      ' Tue, 14 Nov 2023 22:13:20 UTC ',
    ]) {
      assert.equal(parseReleaseDate(text), moment, text);
    }
    assert.equal(parseReleaseDate('Sat, 4 Nov 2023 2:13:20 UTC'), Date.UTC(2023, 10, 4, 2, 13, 20));
    assert.equal(parseReleaseDate('Sat,  4 Nov 2023 02:13:20 UTC'), Date.UTC(2023, 10, 4, 2, 13, 20));
  });

  it('is undefined where apt gives up as well', () => {
    for (const text of [
      '',
      '2023-11-14T22:13:20Z',
      '14 Nov 2023 22:13:20 UTC',
      'Tue, 14 Nov 2023 22:13:20',
      'Tue, 14 Nov 2023 22:13:20 +0200',
      'Tue, 14 Nov 2023 22:13:20 CET',
      'Tue, 14 Foo 2023 22:13:20 UTC',
      'Di, 14 Nov 2023 22:13:20 UTC',
      'Fri, 31 Jun 2023 22:13:20 UTC',
      'Wed, 29 Feb 2023 22:13:20 UTC',
      'Tue, 00 Nov 2023 22:13:20 UTC',
      'Tue, 14 Nov 2023 24:13:20 UTC',
      'Tue, 14 Nov 2023 22:60:20 UTC',
      'Tue, 14 Nov 2023 22:13:60 UTC',
      'Tue, 14 Nov 2023 22:13:20 UTC\nEvil: yes',
    ]) {
      assert.equal(parseReleaseDate(text), undefined, text);
    }
  });
});

describe('the next date of a suite (invariant 9)', () => {
  it('is the present second, never rounded up, when the published one is older', () => {
    assert.deepEqual(nextDate({ now: moment + 999, published: moment - 1000 }), { date: moment, ahead: 0 });
    assert.deepEqual(nextDate({ now: moment + 999, published: undefined }), { date: moment, ahead: 0 });
  });

  it('is one second after the published one when that is this second or ahead of the clock, and says how far ahead', () => {
    assert.deepEqual(nextDate({ now: moment + 400, published: moment }), { date: moment + 1000, ahead: 600 });
    assert.deepEqual(nextDate({ now: moment, published: moment + 60_000 }), { date: moment + 61_000, ahead: 61_000 });
  });

  it('is strictly newer in what is written, and ahead only when it must be', () => {
    const random = new Generator(5);
    for (let i = 0; i < 2000; i += 1) {
      const now = moment + random.below(10_000);
      const published = moment + random.below(10_000);
      const { date, ahead } = nextDate({ now, published });
      assert.ok((parseReleaseDate(releaseDate(date)) ?? 0) > (parseReleaseDate(releaseDate(published)) ?? 0));
      assert.equal(ahead, Math.max(0, date - now));
      if (Math.floor(published / 1000) < Math.floor(now / 1000)) assert.equal(ahead, 0);
    }
  });
});

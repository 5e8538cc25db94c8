import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderVerification, verificationLines } from '../../src/report/verification.ts';

const missing = { kind: 'pool', suite: 'sid', key: 'pool/main/h/hello.deb', what: 'It is missing, and is listed.' };
const mended = {
  kind: 'release',
  suite: 'sid',
  key: 'dists/sid/Release',
  what: 'It is missing.',
  repaired: true,
} as const;
const orphan = { kind: 'orphan', key: 'pool/main/l/left_@octocat.deb', what: 'No suite lists it.' };
const checked = { indexes: 12, poolFiles: 3400 };

describe('the page of a verification', () => {
  it('says that everything is in place, and how much that was', () => {
    const page = renderVerification({ suites: ['sid', 'stable/updates'], findings: [], broken: 0, checked });
    assert.match(page, /^## Verified <code>sid<\/code> and <code>stable\/updates<\/code>: everything is in place\n/);
    assert.match(page, /12 index objects and 3,400 listed pool files/);
    assert.doesNotMatch(page, /\|/);
  });

  it('has a row for each finding, and tells what is wrong from what was mended and what nobody meets', () => {
    const page = renderVerification({ suites: ['sid'], findings: [missing, mended, orphan], broken: 1, checked });
    assert.match(
      page,
      /^## Verified <code>sid<\/code>: 1 thing wrong\n\n.* 1 thing put right\. 1 notice that no reader meets\./,
    );
    assert.equal(page.match(/^\| (?:pool|release|orphan) \|/gm)?.length, 3);
    assert.match(page, /<code>dists\/sid\/Release<\/code> \| Repaired: /);
    assert.doesNotMatch(page, /@octocat/);
    const whole = renderVerification({ suites: ['sid'], findings: [mended], broken: 0, checked });
    assert.match(whole, /: everything is in place again\n/);
  });

  it('leaves out what is too much, and says where it is', () => {
    const findings = Array.from({ length: 502 }, () => missing);
    const page = renderVerification({ suites: ['sid'], findings, broken: 502, checked });
    assert.equal(page.match(/^\| pool \|/gm)?.length, 500);
    assert.match(page, /2 more findings: see the output <?/);
    const long = { ...missing, what: 'x'.repeat(5000) };
    const large = renderVerification({
      suites: ['sid'],
      findings: Array.from({ length: 502 }, () => long),
      broken: 502,
      checked,
    });
    assert.ok(Buffer.byteLength(large) <= 1024 * 1024);
  });
});

describe('the log of a verification', () => {
  it('has a line for each finding, a hundred at most', () => {
    assert.deepEqual(verificationLines({ suites: ['sid'], findings: [missing, mended], broken: 1, checked }), [
      'Verified sid: 12 index objects and 3,400 listed pool files; 2 findings.',
      'pool · pool/main/h/hello.deb · It is missing, and is listed.',
      'release (repaired) · dists/sid/Release · It is missing.',
    ]);
    const lines = verificationLines({
      suites: ['sid'],
      findings: Array.from({ length: 103 }, () => missing),
      broken: 103,
      checked,
    });
    assert.equal(lines.length, 102);
    assert.equal(lines.at(-1), '… and 3 more findings');
  });
});

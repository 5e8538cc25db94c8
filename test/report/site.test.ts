import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stepsFor } from '../../src/report/site-adding.ts';
import type { SitePackage, SiteRepository, SiteSuite } from '../../src/report/site-facts.ts';
import { repositoryPage } from '../../src/report/site-repository.ts';
import { mostRows, suitePage } from '../../src/report/site-suite.ts';

const fingerprint = '0123456789ABCDEF0123456789ABCDEF01234567';
const repository: SiteRepository = {
  url: 'https://apt.example.org/debian',
  name: 'Example',
  fingerprints: [fingerprint],
};
const suite: SiteSuite = {
  suite: 'bookworm',
  description: 'Packages of Example',
  version: '12',
  architectures: ['amd64', 'arm64'],
  components: ['main'],
  date: 'Thu, 01 Jan 2026 00:00:00 UTC',
  entry: 'Types: deb\nURIs: https://apt.example.org/debian\nSuites: bookworm\nComponents: main\n',
};
const hostile = `<script>alert(1)</script>"'\`&\u202E\u0000</title></style>`;

function packages(count: number, more: Partial<SitePackage> = {}): SitePackage[] {
  return Array.from({ length: count }, (_, number) => ({
    name: `libexample-package-${number}`,
    version: `2.${number}.1-3+deb12u1`,
    component: 'main',
    summary: `does one of the ${count} things that packages of this size do`,
    files: ['amd64', 'arm64'].map((architecture) => ({
      architecture,
      filename: `pool/main/libe/libexample/libexample-package-${number}_2.${number}.1-3+deb12u1_${architecture}.deb`,
      size: 123_456,
    })),
    ...more,
  }));
}

describe('the pages of a repository', () => {
  test('show text as text, whatever a package or a suite is called', () => {
    const files = [{ architecture: hostile, filename: `pool/${hostile}.deb`, size: 1 }];
    const [item] = packages(1, { name: hostile, version: hostile, component: hostile, summary: hostile, files });
    assert.ok(item !== undefined);
    const evil: SiteSuite = {
      suite: hostile,
      description: hostile,
      version: hostile,
      architectures: [hostile],
      components: [hostile, 'main'],
      date: hostile,
      entry: hostile,
    };
    const named = { ...repository, name: hostile };
    const [overview, page] = [repositoryPage(named, [evil]), suitePage(named, evil, [item])];
    for (const [text, scripts] of [
      [overview, 0],
      [page, 1],
    ] as const) {
      assert.equal(text.match(/<script/g)?.length ?? 0, scripts);
      assert.equal(text.match(/<\/title>/g)?.length, 1);
      assert.equal(text.match(/<\/style>/g)?.length, 1);
      assert.doesNotMatch(text, /[^\P{C}\n]/u);
      assert.match(text, /&#60;script&#62;alert\(1\)/);
    }
  });

  test('ask for nothing from elsewhere, and lead to files of the repository only', () => {
    for (const page of [repositoryPage(repository, [suite]), suitePage(repository, suite, packages(2))]) {
      const addresses = [...page.matchAll(/\b(?:href|src|action|srcset)="([^"]*)"/g)].map(([, address]) => address);
      assert.ok(addresses.length > 1);
      for (const address of addresses) assert.match(address ?? '', /^(?:\.\.\/)*(?:index\.html|key\.|dists\/|pool\/)/);
      assert.doesNotMatch(page, /@import|url\(|<link|<iframe|<img/);
    }
  });

  test('lead from a suite below another back to the root', () => {
    const nested = { ...suite, suite: 'bookworm/updates' };
    const page = suitePage(repository, nested, packages(1));
    assert.match(
      page,
      /href="\.\.\/\.\.\/\.\.\/pool\/main\/libe\/libexample\/libexample-package-0_2\.0\.1-3%2Bdeb12u1_amd64\.deb"/,
    );
    assert.match(repositoryPage(repository, [nested]), /href="dists\/bookworm\/updates\/index\.html"/);
  });

  test('take a few megabytes for ten thousand packages, and not more for any number of them', () => {
    const page = suitePage(repository, suite, packages(10_000));
    assert.equal(page.match(/<tr><th scope="row">/g)?.length, 10_000);
    assert.ok(page.length < 6_000_000, `${page.length} bytes`);
    const cut = suitePage(repository, suite, packages(mostRows + 5));
    assert.equal(cut.match(/<tr><th scope="row">/g)?.length, mostRows);
    assert.match(cut, /12,000 versions of 12,005 versions/);
  });

  test('say how to add a suite on every release, in commands that can be pasted', () => {
    const [now, before] = stepsFor(repository, suite);
    assert.deepEqual(now?.lines, [
      'sudo curl -fsSLo /etc/apt/sources.list.d/apt.example.org-debian-bookworm.sources \\',
      '  https://apt.example.org/debian/dists/bookworm/repository.sources',
      'sudo apt-get update',
    ]);
    assert.deepEqual(before?.lines.slice(0, 4), [
      'sudo mkdir -p /etc/apt/keyrings',
      'sudo curl -fsSLo /etc/apt/keyrings/apt.example.org-debian.asc \\',
      '  https://apt.example.org/debian/key.asc',
      "sudo tee /etc/apt/sources.list.d/apt.example.org-debian-bookworm.sources <<'END'",
    ]);
    assert.equal(before?.lines.at(-3), 'Signed-By: /etc/apt/keyrings/apt.example.org-debian.asc');
    const [odd] = stepsFor({ ...repository, url: "http://10.0.0.1:8080/it's" }, suite);
    assert.match(odd?.lines[0] ?? '', /sources\.list\.d\/10\.0\.0\.1-8080-it-s-bookworm\.sources /);
    assert.equal(odd?.lines[1], "  'http://10.0.0.1:8080/it'\\''s/dists/bookworm/repository.sources'");
  });

  test('say of an unsigned repository that it is not signed, and speak of no key', () => {
    const unsigned = { ...repository, fingerprints: [] };
    const page = suitePage(unsigned, suite, packages(1));
    assert.match(page, /This repository is not signed/);
    assert.doesNotMatch(page, /key\.asc|keyrings/);
    assert.equal(stepsFor(unsigned, suite).length, 1);
  });

  test('show the fingerprint as gpg prints it', () => {
    assert.match(repositoryPage(repository, [suite]), /0123 4567 89AB CDEF 0123 4567 89AB CDEF 0123 4567/);
  });
});

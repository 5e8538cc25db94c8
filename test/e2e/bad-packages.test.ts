import { after, before, describe, test } from 'node:test';
import { buildAr, buildDeb, buildTar, controlText, debMembers, pack } from '../debs.ts';
import { cephMissing } from '../rig/ceph.ts';
import { type Bench, bench, type Mistake } from './refusals.ts';

const good = buildDeb({ fields: { Package: 'tool' }, files: { 'usr/bin/tool': 'tool\n'.repeat(1000) } });
const withControl = (control: string): Buffer => buildDeb({ control });
const withoutControl = buildAr(
  debMembers().map((member) =>
    member.name === 'control.tar.gz'
      ? { name: member.name, body: pack('gz', buildTar([{ name: './md5sums', body: '' }])) }
      : member,
  ),
);
const fieldless = (name: string): string => controlText().replace(new RegExp(`^${name}: .*\n`, 'm'), '');

/** What is wrong with `bad.deb` → the file and what the user must read. */
const mistakes: Readonly<Record<string, Mistake>> = {
  'is no Debian package': {
    files: { 'bad.deb': 'I am a text.\n' },
    names: /bad\.deb.*not a Debian package/,
    advises: /Check that this is the file you meant/,
  },
  'is empty': { files: { 'bad.deb': '' }, names: /bad\.deb/, advises: /Check that this is the file you meant/ },
  'is truncated': {
    files: { 'bad.deb': good.subarray(0, good.length - 40) },
    names: /bad\.deb.*incomplete/,
    advises: /again/,
  },
  'has no control file': {
    files: { 'bad.deb': withoutControl },
    names: /bad\.deb.*no `control`/,
    advises: /Build the package with/,
  },
  ...Object.fromEntries(
    ['Package', 'Version', 'Architecture'].map((name): [string, Mistake] => [
      `has no field ${name}`,
      {
        files: { 'bad.deb': withControl(fieldless(name)) },
        names: new RegExp(`bad\\.deb.*${name}`),
        advises: /Add it, then rebuild/,
      },
    ]),
  ),
  'has a field twice': {
    files: { 'bad.deb': withControl(`${controlText()}version: 2.0\n`) },
    names: /bad\.deb.*second time.*"version"/,
    advises: /Keep one of the two/,
  },
  'has a control character in a field': {
    files: { 'bad.deb': withControl(controlText({ Section: 'ut\u0007ils' })) },
    names: /bad\.deb.*control character/,
    advises: /Remove it, then rebuild/,
  },
  'has an impossible name': {
    files: { 'bad.deb': { Package: '../up' } },
    names: /bad\.deb.*\.\.\/up/,
    advises: /Correct that field/,
  },
  'has an impossible version': {
    files: { 'bad.deb': { Version: '1.0/../2' } },
    names: /bad\.deb.*1\.0\/\.\.\/2/,
    advises: /Correct that field/,
  },
  'has an impossible architecture': {
    files: { 'bad.deb': { Architecture: 'any' } },
    names: /bad\.deb.*"any"/,
    advises: /Correct that field/,
  },
  'has the name, version and architecture of another one of the batch, but other bytes': {
    files: { 'bad.deb': { Package: 'tool', Section: 'net' }, 'tool.deb': { Package: 'tool' } },
    names: /bad\.deb and tool\.deb are both tool 1\.0/,
    advises: /Publish only one of them/,
  },
  'has the name, version and architecture of a published one, but other bytes': {
    files: { 'bad.deb': { Section: 'net' } },
    names: /bad\.deb is hello 1\.0 \(amd64\), which suite bookworm already holds/,
    advises: /Build it with a new version, or set `on-conflict/,
  },
};

describe('a package that cannot be published stops the step with one sentence, and nothing is written', {
  skip: cephMissing(),
}, () => {
  let workbench: Bench;
  before(async () => {
    workbench = await bench();
  });
  after(() => workbench?.[Symbol.asyncDispose]());

  for (const [fault, mistake] of Object.entries(mistakes)) {
    test(`a .deb that ${fault}`, async (t) => {
      t.diagnostic(await workbench.refuses(mistake));
    });
  }
});

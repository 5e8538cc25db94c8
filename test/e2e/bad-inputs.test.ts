import { after, before, describe, test } from 'node:test';
import { cephMissing } from '../rig/ceph.ts';
import { keyText } from '../signing/fixture-keys.ts';
import { type Bench, bench, type Mistake } from './refusals.ts';

const suiteName = (name: string): Mistake => ({
  inputs: { suites: name },
  names: new RegExp(`"${name.replaceAll('.', '\\.')}" of the input \`suites\``),
  advises: /Write `NAME\[\/COMPONENT\]\[: GLOB …\]`, for example/,
});

const mistakes: Readonly<Record<string, Mistake>> = {
  'a glob that matches no file': {
    inputs: { packages: 'dist/*.deb' },
    names: /"dist\/\*\.deb" of the input `packages`/,
    advises: /earlier step of this job builds or downloads/,
  },
  'a glob that matches a file that is no package': {
    files: { 'tool.deb': { Package: 'tool' }, 'notes.txt': 'Notes.' },
    inputs: { packages: '*' },
    names: /"notes\.txt"/,
    advises: /Write a glob that matches packages only/,
  },
  'no key': { inputs: { 'gpg-private-key': '' }, names: /`gpg-private-key`/, advises: /`unsigned: true`/ },
  'a wrong passphrase': {
    inputs: { 'gpg-private-key': keyText('locked'), 'gpg-passphrase': 'wrong horse' },
    names: /gpg-passphrase does not open key/,
    advises: /Check the secret for blanks and quotes/,
  },
  'no passphrase for a locked key': {
    inputs: { 'gpg-private-key': keyText('locked') },
    names: /is locked by a passphrase/,
    advises: /Pass the passphrase as `?gpg-passphrase/,
  },
  'an expired key': {
    inputs: { 'gpg-private-key': keyText('expiring') },
    names: /expired on 2024-07-01/,
    advises: /gpg --quick-set-expire/,
  },
  'a revoked key': {
    inputs: { 'gpg-private-key': keyText('revoked') },
    names: /is revoked/,
    advises: /Sign with another key/,
  },
  'a key that is no key': {
    inputs: { 'gpg-private-key': 'hunter2' },
    names: /gpg-private-key/,
    advises: /export-secret-keys/,
  },
  'the key of somebody else than who signed the suite': {
    inputs: { 'gpg-private-key': keyText('rsa-subkey') },
    names: /suite bookworm is signed by key 0985EBD6153F7720/,
    advises: /Give the old key too in `?gpg-private-key/,
  },
  'a suite with two dots in its name: a..b': suiteName('a..b'),
  'a suite that leads out of dists: ../x': suiteName('../x'),
  'a suite with two slashes in a row: a//b': suiteName('a//b'),
  'a suite with a blank in its name: a b': suiteName('a b'),
  'a line of suites with a colon and no file': {
    inputs: { suites: 'bookworm/main:', packages: '' },
    names: /"bookworm\/main:" of the input `suites`/,
    advises: /Write `NAME\[\/COMPONENT\]\[: GLOB …\]`/,
  },
  'an input that is neither true nor false': {
    inputs: { contents: 'perhaps' },
    names: /`contents` is "perhaps"/,
    advises: /`contents: true`/,
  },
};

describe('a workflow that cannot work stops the step with one sentence, and nothing is written', {
  skip: cephMissing(),
}, () => {
  let workbench: Bench;
  before(async () => {
    workbench = await bench();
  });
  after(() => workbench?.[Symbol.asyncDispose]());

  for (const [fault, mistake] of Object.entries(mistakes)) {
    test(fault, async (t) => {
      t.diagnostic(await workbench.refuses(mistake));
    });
  }
});

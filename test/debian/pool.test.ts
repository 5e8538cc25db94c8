import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileNameFits, ownPoolName, poolFolder, poolName } from '../../src/debian/pool.ts';

test('the folder is that of the source, below its first letter or the first four of a library', () => {
  assert.equal(poolFolder('main', 'hello'), 'pool/main/h/hello');
  assert.equal(poolFolder('main', 'libxml2'), 'pool/main/libx/libxml2');
  assert.equal(poolFolder('main', 'lib'), 'pool/main/lib/lib');
  assert.equal(poolFolder('main/debug', '0ad'), 'pool/main/debug/0/0ad');
});

const greeter = {
  component: 'contrib',
  source: 'libgreet',
  package: 'greeter',
  version: '2:1.0~rc1+b1-2',
  architecture: 'amd64',
  extension: 'deb',
};

test('a name has package, version and architecture, without the epoch and with + and ~ as they are', () => {
  assert.equal(poolName(greeter), 'pool/contrib/libg/libgreet/greeter_1.0~rc1+b1-2_amd64.deb');
  assert.equal(poolName({ ...greeter, architecture: 'all', extension: 'udeb' }).slice(-9), '_all.udeb');
});

test('the name of a .dsc has no architecture', () => {
  const dsc = { ...greeter, package: 'libgreet', architecture: 'source', extension: 'dsc' };
  assert.equal(poolName(dsc), 'pool/contrib/libg/libgreet/libgreet_1.0~rc1+b1-2.dsc');
});

test('bytes whose name is taken get one of their own in the same folder, with the same extension', () => {
  const sha256 = '1a2b3c4d5e6f7081'.repeat(4);
  const own = ownPoolName(poolName(greeter), sha256);
  assert.equal(own, 'pool/contrib/libg/libgreet/greeter_1.0~rc1+b1-2_amd64_1a2b3c4d.deb');
  assert.match(own, /^[A-Za-z0-9+.~_/-]+$/);
});

test('an own name is never the ordinary name of another package', () => {
  const underscores = (name: string) => name.split('_').length;
  for (const [architecture, extension] of [
    ['amd64', 'deb'],
    ['source', 'dsc'],
  ] as const) {
    const name = poolName({ ...greeter, architecture, extension });
    assert.equal(underscores(ownPoolName(name, 'ab'.repeat(32))), underscores(name) + 1);
  }
});

test('names may be as long as a file name with its epoch, own part and the longest extension', () => {
  const identity = { package: 'hello', version: '1:1', architecture: 'amd64' };
  const room = 255 - 'hello_1%3a1_amd64_01234567.udeb'.length;
  assert.equal(fileNameFits({ ...identity, package: 'hello'.padEnd(5 + room, 'o') }), true);
  assert.equal(fileNameFits({ ...identity, package: 'hello'.padEnd(6 + room, 'o') }), false);
});

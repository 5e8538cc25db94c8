import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fieldValue, parseStanzas } from '../../src/debian/deb822.ts';
import { sourcesStanza } from '../../src/debian/sources.ts';
import { needs, run, temporaryFolder } from './debian-tools.ts';

const orig = Buffer.from('not really a tarball\n');
const directory = 'pool/main/h/hello';

const dsc = `Format: 3.0 (quilt)
Source: hello
Binary: hello, hello-doc
Architecture: any all
Version: 1:1.0-1
Maintainer: Jörg Ö <joerg@example.org>
Uploaders: A <a@example.org>,
 B <b@example.org>
Homepage: https://example.org/
Standards-Version: 4.6.2
Build-Depends: debhelper-compat (= 13)
Package-List:
 hello deb utils optional arch=any
 hello-doc deb doc optional arch=all
Checksums-Sha1:
 ${digest('sha1', orig)} ${orig.length} hello_1.0.orig.tar.gz
Checksums-Sha256:
 ${digest('sha256', orig)} ${orig.length} hello_1.0.orig.tar.gz
Files:
 ${digest('md5', orig)} ${orig.length} hello_1.0.orig.tar.gz
X-Extra: kept
`;

describe('the stanza of a source package', () => {
  it('turns Source into Package and lists the .dsc beside what it lists', () => {
    const own = Buffer.from(dsc);
    assert.equal(
      render(),
      `Package: hello
Format: 3.0 (quilt)
Binary: hello, hello-doc
Architecture: any all
Version: 1:1.0-1
Maintainer: Jörg Ö <joerg@example.org>
Uploaders: A <a@example.org>,
 B <b@example.org>
Homepage: https://example.org/
Standards-Version: 4.6.2
Build-Depends: debhelper-compat (= 13)
Package-List:
 hello deb utils optional arch=any
 hello-doc deb doc optional arch=all
X-Extra: kept
Directory: pool/main/h/hello
Files:
 ${digest('md5', own)} ${own.length} hello_1.0-1.dsc
 ${digest('md5', orig)} ${orig.length} hello_1.0.orig.tar.gz
Checksums-Sha256:
 ${digest('sha256', own)} ${own.length} hello_1.0-1.dsc
 ${digest('sha256', orig)} ${orig.length} hello_1.0.orig.tar.gz

`,
    );
  });

  it('says field by field what apt-ftparchive says', needs('apt-ftparchive'), (test) => {
    const folder = temporaryFolder(test);
    mkdirSync(join(folder, directory), { recursive: true });
    writeFileSync(join(folder, directory, 'hello_1.0-1.dsc'), dsc);
    writeFileSync(join(folder, directory, 'hello_1.0.orig.tar.gz'), orig);
    const sha256Only = ['', '::Sources'].flatMap((part) =>
      ['SHA1', 'SHA512'].flatMap((sum) => ['-o', `APT::FTPArchive${part}::${sum}=false`]),
    );
    const [expected = [], ...others] = parseStanzas(
      run('apt-ftparchive', [...sha256Only, 'sources', 'pool'], { cwd: folder }),
    );
    const [own = []] = parseStanzas(render());
    assert.deepEqual(others, []);
    assert.deepEqual(own.map((field) => field.name).sort(), expected.map((field) => field.name).sort());
    for (const { name } of expected) assert.equal(fieldValue(own, name), fieldValue(expected, name), name);
  });
});

function render(): string {
  const [control = []] = parseStanzas(dsc);
  const files = [listed('hello_1.0-1.dsc', Buffer.from(dsc)), listed('hello_1.0.orig.tar.gz', orig)];
  return Buffer.from(sourcesStanza({ control, directory, files })).toString();
}

function listed(name: string, bytes: Buffer) {
  // Upper case on purpose: apt takes it for a mismatch, so it must not come out.
  return {
    name,
    size: bytes.length,
    md5: digest('md5', bytes).toUpperCase(),
    sha256: digest('sha256', bytes).toUpperCase(),
  };
}

function digest(algorithm: string, bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest('hex');
}

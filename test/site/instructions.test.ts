import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runProcess, skipWithout } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { publishedSite } from './published-site.ts';

const isRoot = process.getuid?.() === 0;
const skip =
  skipWithout('apt-get', 'curl', 'unshare', 'mount') || (isRoot ? false : 'only root can have an /etc/apt of its own');

/** The commands of a page, as somebody would copy them. */
function commandsOf(page: string): string[] {
  const blocks = [...page.matchAll(/<pre [^>]*aria-label="Commands for [^"]*"><code>([\s\S]*?)<\/code>/g)];
  return blocks.map(([, block = '']) =>
    block.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code))),
  );
}

/**
 * Runs commands as they stand on a machine whose /etc/apt and /var/lib/apt are empty: in a mount namespace of its own, so that nothing of
 * the real ones is touched. `sudo` does nothing but run.
 */
async function onFreshMachine(commands: string): Promise<string> {
  await using folder = await temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  for (const name of [
    'etc/sources.list.d',
    'etc/apt.conf.d',
    'etc/preferences.d',
    'etc/trusted.gpg.d',
    'lib/lists/partial',
    'cache/archives/partial',
    'bin',
  ]) {
    await mkdir(path(name), { recursive: true });
  }
  await writeFile(
    path('etc/apt.conf.d/root'),
    'APT::Sandbox::User "root";\nAcquire::http::Proxy "DIRECT";\nAPT::Architecture "amd64";\nAPT::Architectures { "amd64"; };\n',
  );
  await writeFile(path('bin/sudo'), '#!/bin/sh\nexec "$@"\n');
  await chmod(path('bin/sudo'), 0o755);
  const script = `set -e
mount --make-rprivate /
mount --bind '${path('etc')}' /etc/apt
mount --bind '${path('lib')}' /var/lib/apt
mount --bind '${path('cache')}' /var/cache/apt
PATH='${path('bin')}':$PATH
cd '${folder.path}'
${commands}
apt-cache policy hello
apt-get download hello
ls *.deb`;
  const { code, stdout, stderr } = await runProcess('unshare', ['--mount', 'sh', '-c', script], {
    env: { PATH: process.env['PATH'], LC_ALL: 'C', HOME: folder.path },
  });
  assert.equal(code, 0, `${stderr}${stdout}`);
  assert.doesNotMatch(`${stderr}${stdout}`, /^(?:W|E|N): (?!Download is performed unsandboxed)/m);
  return stdout.toString();
}

describe('the commands on the pages', { skip }, () => {
  for (const signing of ['signed', 'unsigned'] as const) {
    test(`add the repository to a fresh machine, word for word (${signing})`, async () => {
      await using site = await publishedSite();
      const files = [await site.addDeb('amd', { Version: '2.10-3' }), await site.addSource()].join('\n');
      const unsigned = { unsigned: 'true', 'gpg-private-key': '' };
      const suites = 'bookworm\nbookworm/updates';
      await site.run({ packages: files, suites, ...(signing === 'unsigned' ? unsigned : {}) });
      for (const path of ['index.html', 'dists/bookworm/index.html', 'dists/bookworm/updates/index.html']) {
        const page = await (await fetch(`${site.server.url}/${path}`)).text();
        const blocks = commandsOf(page);
        const ways = signing === 'signed' ? 2 : 1;
        assert.equal(blocks.length, path === 'index.html' ? 2 * ways : ways, path);
        for (const commands of blocks) {
          const said = await onFreshMachine(commands);
          assert.match(said, /Candidate: 2\.10-3/);
          assert.match(said, /hello_2\.10-3_amd64\.deb/);
        }
      }
    });
  }

  test('show the fingerprint that the page shows', { skip: skipWithout('gpg') }, async () => {
    await using site = await publishedSite();
    await site.run({ packages: await site.addDeb('amd', {}), suites: 'bookworm' });
    const page = await (await fetch(`${site.server.url}/index.html`)).text();
    const [shown = ''] = page.match(/(?:[0-9A-F]{4} ){9}[0-9A-F]{4}/) ?? [];
    await using home = await temporaryFolder();
    const command = `curl -fsSL ${site.server.url}/key.asc | gpg --show-keys`;
    assert.ok(page.includes(command));
    const env = { PATH: process.env['PATH'], GNUPGHOME: home.path, LC_ALL: 'C' };
    const { stdout } = await runProcess('sh', ['-c', command], { env });
    assert.match(stdout.toString(), new RegExp(shown.replaceAll(' ', '')));
    const binary = Buffer.from(await (await fetch(`${site.server.url}/key.gpg`)).arrayBuffer());
    await writeFile(join(home.path, 'key.gpg'), binary);
    const again = await runProcess('gpg', ['--show-keys', join(home.path, 'key.gpg')], { env });
    assert.match(again.stdout.toString(), new RegExp(shown.replaceAll(' ', '')));
  });
});

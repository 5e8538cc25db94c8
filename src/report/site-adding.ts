import { type Html, html, link, nothing, text } from './html.ts';
import { type SiteRepository, type SiteSuite, sourcesKey } from './site-facts.ts';
import { commands } from './site-shell.ts';

/**
 * How a suite is added to a machine, as commands that can be pasted: one file where apt reads a key out of it (2.3.10), and a key of its own
 * where it does not, which every apt since 1.4 understands.
 */
export function addingSection(repository: SiteRepository, suite: SiteSuite, level: 2 | 3): Html {
  const heading = (title: string) => (level === 2 ? html`<h2>${text(title)}</h2>\n` : html`<h3>${text(title)}</h3>\n`);
  const steps = stepsFor(repository, suite);
  return html`${steps.map(
    ({ title, lines }): Html =>
      html`${heading(title)}${commands(`Commands for ${title}: suite ${suite.suite}`, lines)}`,
  )}<p>Then install packages as usual, for example with <code>apt-get install</code>. Where <code>curl</code> is missing, <code>sudo apt-get install curl</code> comes first.</p>
`;
}

/** Each way to add a suite: for whom, and the lines to type. */
export function stepsFor(
  { url, fingerprints }: SiteRepository,
  { suite, entry }: SiteSuite,
): { readonly title: string; readonly lines: readonly string[] }[] {
  const stem = stemOf(url);
  const file = `/etc/apt/sources.list.d/${stem}-${suite.replaceAll('/', '-')}.sources`;
  const fetch = [`sudo curl -fsSLo ${file} \\`, `  ${quoted(addressOf(url, sourcesKey(suite)))}`];
  const update = 'sudo apt-get update';
  if (fingerprints.length === 0) return [{ title: 'Every release (apt 1.1 and newer)', lines: [...fetch, update] }];
  const keyring = `/etc/apt/keyrings/${stem}.asc`;
  const lines = [...entry.trimEnd().split('\n'), `Signed-By: ${keyring}`];
  return [
    { title: 'Debian 12, Ubuntu 22.04 and newer', lines: [...fetch, update] },
    {
      title: 'Debian 9 to 11, Ubuntu 18.04 and 20.04',
      lines: [
        'sudo mkdir -p /etc/apt/keyrings',
        `sudo curl -fsSLo ${keyring} \\`,
        `  ${quoted(addressOf(url, 'key.asc'))}`,
        `sudo tee ${file} <<'END'`,
        ...lines,
        'END',
        update,
      ],
    },
  ];
}

/** The key, and how to see that it is the one that is meant. */
export function keySection({ url, fingerprints }: SiteRepository, toRoot: string): Html {
  if (fingerprints.length === 0) {
    return html`<h2 id="key">Key</h2>
<p>This repository is not signed: its packages are as trustworthy as the way on which they come.</p>
`;
  }
  return html`<h2 id="key">Key</h2>
<p>${text(fingerprints.length === 1 ? 'What apt reads is signed by this key' : 'What apt reads is signed by these keys')}
(<a href="${link(toRoot, 'key.asc')}">key.asc</a>, or binary <a href="${link(toRoot, 'key.gpg')}">key.gpg</a>).
Compare the fingerprint with one that you have got in another way:</p>
${fingerprints.map((fingerprint): Html => html`<p><code>${text(grouped(fingerprint))}</code></p>\n`)}${commands(
  'Command that shows the fingerprint',
  [`curl -fsSL ${quoted(addressOf(url, 'key.asc'))} | gpg --show-keys`],
)}${url.startsWith('https:') ? nothing : html`<p>The address of this repository is not encrypted: do compare it.</p>\n`}`;
}

/** A name for files on the reader's machine: `apt.example.org-debian`. apt ignores files with other characters than these. */
function stemOf(url: string): string {
  const { host, pathname } = new URL(url);
  const stem = `${host}${pathname}`.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '');
  return stem === '' ? 'repository' : stem;
}

function addressOf(url: string, key: string): string {
  return `${url}/${key.split('/').map(encodeURIComponent).join('/')}`;
}

/** A word for a POSIX shell. */
function quoted(word: string): string {
  return /^[A-Za-z0-9%+,./:=@_-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** As gpg prints a fingerprint. */
function grouped(fingerprint: string): string {
  return (fingerprint.match(/.{1,4}/g) ?? []).join(' ');
}

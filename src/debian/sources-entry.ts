import { type Field, renderStanza } from './deb822.ts';

/** What a user has to know of a repository to read suites of it that have the same shape. */
export interface SourcesEntry {
  /** The base URI: what `dists/` and `pool/` hang below. */
  readonly uri: string;
  /** At least one. */
  readonly suites: readonly string[];
  readonly components: readonly string[];
  /** `all` may be among them: it is in every list, so no client asks for it. */
  readonly architectures: readonly string[];
  /** Whether the suite has source packages. */
  readonly hasSources: boolean;
  readonly trust: Trust;
}

/** An armored public key to embed, the path of a keyring on the user's machine, or neither: the suite is not signed. */
type Trust = { readonly key: string } | { readonly keyring: string } | 'unsigned';

/**
 * The text of a file for `/etc/apt/sources.list.d/`, named `*.sources` (sources.list(5), deb822 style). An embedded key needs
 * apt 2.3.10 or newer; a keyring path serves every apt that knows `Signed-By`.
 */
export function sourcesEntry(entry: SourcesEntry): string {
  const architectures = entry.architectures.filter((architecture) => architecture !== 'all');
  return renderStanza([
    { name: 'Types', value: entry.hasSources ? 'deb deb-src' : 'deb' },
    { name: 'URIs', value: entry.uri },
    { name: 'Suites', value: entry.suites.join(' ') },
    { name: 'Components', value: entry.components.join(' ') },
    // Without the field apt asks for the machine's own architectures: right for a suite of arch:all packages.
    ...(architectures.length === 0 ? [] : [{ name: 'Architectures', value: architectures.join(' ') }]),
    trustField(entry.trust),
  ]);
}

function trustField(trust: Trust): Field {
  if (trust === 'unsigned') return { name: 'Trusted', value: 'yes' };
  if ('keyring' in trust) return { name: 'Signed-By', value: trust.keyring };
  // In deb822 an empty line, which every armored key has, is written as a dot.
  const lines = trust.key.trim().split(/\r?\n/);
  return { name: 'Signed-By', value: lines.map((line) => `\n ${line.trim() === '' ? '.' : line.trim()}`).join('') };
}

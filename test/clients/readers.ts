import { sourcesEntry } from '../../src/debian/sources-entry.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { armoredPublicKey } from '../../src/signing/verify.ts';
import { type AptClient, aptClient } from '../e2e/apt-client.ts';

/** By which names a client asks for indexes. */
export type Naming = 'by-hash' | 'by-name';

/** A new apt that knows the suite `sid` at this address, and nothing else. */
export function reader(url: string, naming: Naming, keys: SigningKeys): Promise<AptClient> {
  const entry = sourcesEntry({
    uri: url,
    suites: ['sid'],
    components: ['main'],
    architectures: ['amd64'],
    hasSources: false,
    trust: { key: armoredPublicKey(keys) },
  });
  return aptClient([`${entry.trimEnd()}\nBy-Hash: ${naming === 'by-hash' ? 'yes' : 'no'}\n`]);
}

/** Lets a client update: what it complains of, also where that does not make it fail; empty when all is well. */
export async function complaints(client: AptClient): Promise<string[]> {
  try {
    return complaintsIn(await client.update());
  } catch (error) {
    const found = complaintsIn(String(error).split('\n'));
    return found.length > 0 ? found : [String(error)];
  }
}

function complaintsIn(lines: readonly string[]): string[] {
  return lines.filter((line) => /^(?:Err|W|E):/.test(line));
}

import { readKeys } from 'openpgp';
import { Problem } from '../problem.ts';
import type { PublicKeys } from './keys.ts';

const block = /-----BEGIN PGP PUBLIC KEY BLOCK-----.*?-----END PGP PUBLIC KEY BLOCK-----/gs;

/**
 * The public keys in what somebody pasted into the input import-key: one or several armoured blocks, or the base64 of a binary keyring.
 * Throws the `Problem` `import-key-invalid` when that is none.
 */
export async function readTrustedKeys(text: string): Promise<PublicKeys> {
  const blocks = text.replaceAll('\r', '').match(block) ?? [];
  const base64 = text.replace(/\s+/g, '');
  try {
    const read =
      blocks.length > 0
        ? await Promise.all(blocks.map((armoredKeys) => readKeys({ armoredKeys })))
        : [/^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? await readKeys({ binaryKeys: Buffer.from(base64, 'base64') }) : []];
    const keys = read.flat().map((key) => key.toPublic());
    if (keys.length > 0) return keys;
  } catch (cause) {
    throw noKeys(cause);
  }
  throw noKeys();
}

function noKeys(cause?: unknown): Problem {
  return new Problem({
    code: 'import-key-invalid',
    title: 'There is no public key in import-key',
    what: 'The input import-key holds no OpenPGP public key that can be read.',
    advice:
      'Pass what `gpg --armor --export FINGERPRINT` prints, or the text of the .asc file that users of that repository install.',
    cause,
  });
}

import type { InputReader } from './input-reader.ts';
import { quoted } from './input-reader.ts';
import type { Settings } from './settings.ts';

/**
 * Reads what to sign with. No key and no `unsigned: true` is a fault, so that a secret that a fork or a typo left empty never leads to a
 * repository that nobody can verify; a dry run signs nothing and does without. Whether the keys are usable is found out by the signing room.
 */
export function readSigning(reader: InputReader, dryRun: boolean): Settings['signing'] | undefined {
  const keys = reader.secret('gpg-private-key');
  const passphrase = reader.secret('gpg-passphrase');
  const fingerprint = readFingerprint(reader);
  const unsigned = reader.boolean('unsigned') ?? false;
  if (!unsigned && keys === undefined) {
    if (dryRun) return 'no-key';
    return reader.fault('gpg-private-key', {
      what: 'is missing or empty.',
      advice:
        'Give the secret key as `gpg-private-key`, see that the secret it comes from exists and reaches this workflow, or write `unsigned: true` for a repository without signatures.',
    });
  }
  if (!unsigned && keys !== undefined) {
    return {
      keys,
      ...(passphrase === undefined ? {} : { passphrase }),
      ...(fingerprint === undefined ? {} : { fingerprint }),
    };
  }
  for (const name of ['gpg-private-key', 'gpg-passphrase', 'gpg-fingerprint']) {
    if (reader.text(name) === undefined) continue;
    reader.fault(name, { what: 'is given together with `unsigned: true`.', advice: 'Remove one of the two.' });
  }
  return 'unsigned';
}

/** Fingerprints that `signed-by` pins, in the spelling of the Release field Signed-By. */
export function readSignedBy(reader: InputReader): string[] | undefined {
  const words = reader.words('signed-by');
  if (words.length === 0) return undefined;
  for (const word of words.filter((written) => !/^[0-9A-Fa-f]{40}!?$/.test(written))) {
    reader.fault('signed-by', {
      what: `has ${quoted(word)}, which is no fingerprint of 40 hexadecimal digits.`,
      advice:
        'Write what `gpg --list-keys --with-colons` prints on its fpr lines, with commas or line breaks between two of them.',
    });
  }
  return words.map((word) => word.toUpperCase());
}

/** gpg prints fingerprints in groups and key ids with `0x` in front: both are taken as printed. */
function readFingerprint(reader: InputReader): string | undefined {
  const written = reader.text('gpg-fingerprint');
  if (written === undefined) return undefined;
  const fingerprint = written.replace(/\s+/g, '').replace(/^0x/i, '').toUpperCase();
  if (/^(?:[0-9A-F]{40}|[0-9A-F]{16})!?$/.test(fingerprint)) return fingerprint;
  return reader.fault('gpg-fingerprint', {
    what: `is ${quoted(written)}, which is neither a fingerprint of 40 nor a key id of 16 hexadecimal digits.`,
    advice:
      'Write what `gpg --list-secret-keys --keyid-format long` prints, with a trailing `!` for exactly one subkey.',
  });
}

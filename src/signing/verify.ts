import { armor, createMessage, enums, readSignature, type Signature, verify } from 'openpgp';
import { Problem } from '../problem.ts';
import { fingerprintOf, type PublicKeys, type SigningKeys } from './keys.ts';

/** The public parts of the keys that sign. */
export function publicKeys(keys: SigningKeys): PublicKeys {
  return keys.map(({ key }) => key.toPublic());
}

/** The fingerprints of the primary keys, 40 upper-case hex digits each: what `Signed-By` lists. */
export function fingerprints(keys: SigningKeys): string[] {
  return keys.map(({ key }) => fingerprintOf(key));
}

/**
 * One armoured file with the public parts of all keys, for `/etc/apt/keyrings/NAME.asc`. They share one block, since
 * apt decodes only what it takes for a single one, and it carries the checksum without which old gpg loses bytes (dev.gnupg.org/T7071).
 */
export function armoredPublicKey(keys: SigningKeys): string {
  return armor(enums.armor.publicKey, binaryPublicKey(keys), undefined, undefined, undefined, true);
}

/** The same without armour, for programs that read binary keyrings only: debmirror, apt before 1.4. */
export function binaryPublicKey(keys: SigningKeys): Uint8Array {
  return Buffer.concat(publicKeys(keys).map((key) => key.write()));
}

/**
 * The text of a clear-signed file that a trusted key has signed, with LF line ends and exactly as the signature covers it,
 * and the fingerprints of the trusted primary keys whose signatures are good (at least one; signatures of others beside
 * them do not matter, as for apt). `origin` names the file in messages.
 *
 * What counts is that the key was good when it signed. A key that has expired since, or whose expiry was extended since
 * (gpg then replaces the self-signature by one newer than the file), still vouches for what it signed. No clock is asked.
 *
 * Throws `Problem`s: `inrelease-garbage` (no clear-signed text, or something before or after it: apt refuses both),
 * `inrelease-unsigned`, `inrelease-other-key`, `inrelease-bad-signature`.
 */
export async function verifyInRelease(
  bytes: Uint8Array,
  trusted: PublicKeys,
  origin: string,
): Promise<{ release: string; signedBy: string[] }> {
  const { text, signatures } = splitClearSigned(bytes, origin);
  const message = await createMessage({ text });
  return { release: text, signedBy: await goodSigners(message, signatures, trusted, { origin, code: 'inrelease' }) };
}

/**
 * The text of a clear-signed file without any word on its signatures: for adopting what another key has signed. Throws as
 * `verifyInRelease` does for what is no clear-signed text.
 */
export function unverifiedText(bytes: Uint8Array, origin: string): string {
  return splitClearSigned(bytes, origin).text;
}

/**
 * Checks an armoured detached signature over `release` by the rules of `verifyInRelease`, and answers with the fingerprints of the
 * trusted keys that made it. Throws `release-gpg-garbage`, `release-gpg-unsigned`, `release-gpg-other-key`, `release-gpg-bad-signature`.
 */
export async function verifyDetached(
  release: Uint8Array,
  signature: string,
  trusted: PublicKeys,
  origin: string,
): Promise<{ signedBy: string[] }> {
  const subject = { origin, code: 'release-gpg' } as const;
  const message = await createMessage({ binary: release });
  return { signedBy: await goodSigners(message, [signature], trusted, subject) };
}

interface Subject {
  readonly origin: string;
  readonly code: 'inrelease' | 'release-gpg';
}

const signedHeader = '-----BEGIN PGP SIGNED MESSAGE-----';
const signatureHeader = '-----BEGIN PGP SIGNATURE-----';
const signatureFooter = '-----END PGP SIGNATURE-----';

/**
 * Takes a clear-signed file apart (RFC 9580 §7): header, `Hash:` lines, blank line, text, one or more signature blocks, and nothing
 * else. Done here rather than by openpgp.js, which skips what stands before and after, and reads only the first block.
 */
function splitClearSigned(bytes: Uint8Array, origin: string): { text: string; signatures: string[] } {
  const lines = decodeLines(bytes, origin);
  if (lines[0] !== signedHeader) {
    if (lines.some((line) => /^(SHA256|Codename|Suite):/.test(line)) && !lines.includes(signedHeader))
      throw unsigned({ origin, code: 'inrelease' });
    throw garbage({ origin, code: 'inrelease' }, appearance(lines));
  }
  const blank = lines.indexOf('');
  const hashHeaders = lines.slice(1, blank === -1 ? 1 : blank);
  const firstBlock = lines.indexOf(signatureHeader);
  // Any other armour header could carry text that readers see and no signature covers.
  if (blank === -1 || firstBlock < blank || !hashHeaders.every((line) => /^Hash: [A-Za-z0-9, -]+$/.test(line)))
    throw garbage({ origin, code: 'inrelease' }, 'a clear-signed text that is cut off or damaged');
  const text = lines.slice(blank + 1, firstBlock).map((line) => {
    if (line.startsWith('-') && !line.startsWith('- '))
      throw garbage({ origin, code: 'inrelease' }, 'a clear-signed text with a line that begins with "-"');
    return line.replace(/^- /, '').replace(/(?<![ \t])[ \t]+$/, '');
  });
  return { text: text.join('\n'), signatures: signatureBlocks(lines.slice(firstBlock), { origin, code: 'inrelease' }) };
}

function decodeLines(bytes: Uint8Array, origin: string): string[] {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).split(/\r?\n/);
  } catch (cause) {
    throw garbage({ origin, code: 'inrelease' }, 'bytes that are not UTF-8 text', cause);
  }
}

function signatureBlocks(lines: readonly string[], subject: Subject): string[] {
  const blocks: string[] = [];
  let start = 0;
  while (lines[start] === signatureHeader) {
    const end = lines.indexOf(signatureFooter, start);
    if (end === -1) throw garbage(subject, 'a signature that is cut off');
    blocks.push(`${lines.slice(start, end + 1).join('\n')}\n`);
    start = end + 1;
  }
  if (lines.slice(start).some((line) => line !== ''))
    throw garbage(subject, 'a signed text with something after its signature');
  return blocks;
}

/** The message as `createMessage` makes it, of text or of bytes. */
type SignedMessage = Parameters<typeof verify>[0]['message'];

async function goodSigners(message: SignedMessage, armored: readonly string[], trusted: PublicKeys, subject: Subject) {
  const good = new Set<string>();
  const bad: string[] = [];
  const others: string[] = [];
  for (const block of armored) {
    const signature = await readBlock(block, subject);
    const { signatures } = await verify({
      message,
      signature,
      verificationKeys: [...trusted],
      // `null` asks no clock; the key is judged at the time of the signature, or by its newer self-signature if gpg has replaced that one.
      date: null,
      config: { allowInsecureVerificationWithReformattedKeys: true },
    }).catch((cause: unknown) => {
      // openpgp.js throws on a signature packet that names an unknown algorithm.
      throw garbage(subject, 'signed with something that is not understood', cause);
    });
    for (const { keyID, verified } of signatures) {
      const key = trusted.find((candidate) => candidate.getKeys(keyID).length > 0);
      const reason = await verified.then(
        () => undefined,
        (cause) => (cause instanceof Error ? cause.message : String(cause)),
      );
      if (key === undefined) others.push(keyID.toHex().toUpperCase());
      else if (reason === undefined) good.add(fingerprintOf(key));
      else bad.push(`${keyID.toHex().toUpperCase()}: ${reason}`);
    }
  }
  if (good.size > 0) return [...good];
  if (bad.length > 0) throw badSignature(subject, bad);
  if (others.length > 0) throw otherKey(subject, others, trusted);
  throw unsigned(subject);
}

async function readBlock(armoredSignature: string, subject: Subject): Promise<Signature> {
  try {
    return await readSignature({ armoredSignature });
  } catch (cause) {
    throw garbage(subject, 'a signature that cannot be read', cause);
  }
}

function appearance(lines: readonly string[]): string {
  const text = lines.join('\n').trim();
  if (text === '') return 'an empty file';
  if (/^<(!doctype|html|\?xml|head|body)\b/i.test(text)) return 'an HTML or XML page';
  if (lines.includes(signedHeader)) return 'a signed text with something before it';
  return 'something that is not a clear-signed text';
}

function garbage({ origin, code }: Subject, looksLike: string, cause?: unknown): Problem {
  return new Problem({
    code: `${code}-garbage`,
    title: 'The published signature cannot be read',
    what: `${origin} is ${looksLike}.`,
    advice:
      'Nothing was written; find out what put it there, and restore the file or remove the whole suite before publishing again.',
    cause,
  });
}

function unsigned({ origin, code }: Subject): Problem {
  return new Problem({
    code: `${code}-unsigned`,
    title: 'The published suite is not signed',
    what: `${origin} carries no signature that can be checked.`,
    advice: 'Nothing was written; restore the signed file, or adopt the repository explicitly if another tool made it.',
  });
}

function otherKey({ origin, code }: Subject, keyIds: readonly string[], trusted: PublicKeys): Problem {
  return new Problem({
    code: `${code}-other-key`,
    title: 'The published suite is signed by another key',
    what: `${origin} is signed by key ${keyIds.join(', ')}, and none of the given keys (${trusted.map(fingerprintOf).join(', ')}) is that one.`,
    advice:
      'Give the old key too in gpg-private-key while you change keys, so that both sign, or pass the key that published this suite.',
  });
}

function badSignature({ origin, code }: Subject, reasons: readonly string[]): Problem {
  return new Problem({
    code: `${code}-bad-signature`,
    title: 'The published signature is bad',
    what: `${origin} has no good signature by a given key (${reasons.join('; ')}).`,
    advice:
      'Nothing was written; somebody or something has changed the published file, so find out who before you restore it.',
  });
}

import {
  config,
  enums,
  type PrivateKey,
  type PublicKey,
  readPrivateKeys,
  SecretKeyPacket,
  type SecretSubkeyPacket,
  type SignaturePacket,
  type Subkey,
} from 'openpgp';
import { Problem, throwProblems } from '../problem.ts';
import { damaged, privateKeyPackets } from './key-text.ts';

/** A key that signs: the whole key and the part of it that makes the signatures. Unlocked as far as signing needs it. */
export interface SigningKey {
  readonly key: PrivateKey;
  /** The key itself or one of its subkeys. */
  readonly signer: PrivateKey | Subkey;
}

/** The keys that sign, all of them, in the order in which they were given. Never empty. */
export type SigningKeys = readonly SigningKey[];

/** Keys whose signatures are believed. */
export type PublicKeys = readonly PublicKey[];

export interface SigningKeyInput {
  /** What the input gpg-private-key holds: see `privateKeyPackets` for what is understood. */
  readonly keys: string;
  /** Opens every locked key among them; absent or empty when none is locked. */
  readonly passphrase?: string;
  /**
   * 40 hex digits, or the 16 of a key id, of a key or of a signing subkey; blanks and `0x` are forgiven. Only that key signs. A
   * trailing `!` on the fingerprint of a primary key means the primary key itself, as in gpg; a subkey's means that subkey with or without it.
   */
  readonly fingerprint?: string;
  /** The time of the signatures to come: among several signing subkeys the newest one usable then is taken. */
  readonly at: Date;
}

/**
 * Reads, selects and unlocks the keys that will sign. Whether they are good enough for clients is the question of
 * `preflight`: an expired key is read here without complaint.
 *
 * Only the part that signs is unlocked and needed, so exports of `gpg --export-secret-subkeys` (the primary key is a stub) work.
 *
 * Throws `Problem`s: `signing-key-missing`, `-not-a-key`, `-damaged`, `-fingerprint-malformed`, `-fingerprint-not-found`,
 * `-cannot-sign`, `-locked`, `-wrong-passphrase`, `-protection-unknown`.
 */
export async function readSigningKeys(input: SigningKeyInput): Promise<SigningKeys> {
  const all = await readAll(input.keys);
  const wanted = input.fingerprint === undefined ? undefined : parseFingerprint(input.fingerprint);
  const chosen = wanted === undefined ? all : all.filter((key) => parts(key).some((part) => matches(part, wanted)));
  if (wanted !== undefined && chosen.length === 0) throw notFound(wanted.digits, all);
  const signingKeys: SigningKey[] = [];
  const problems: Problem[] = [];
  for (const key of chosen) {
    const signer = await chooseSigner(key, wanted, input.at);
    const problem = signer === undefined ? cannotSign(key, wanted) : await unlock(signer, input.passphrase);
    if (problem !== undefined) problems.push(problem);
    else if (signer !== undefined) signingKeys.push({ key, signer });
  }
  throwProblems(problems);
  return signingKeys;
}

/** 40 upper-case hex digits, as gpg prints them. */
export function fingerprintOf(part: PublicKey | Subkey): string {
  return part.getFingerprint().toUpperCase();
}

/** The newest of some self-signatures or binding signatures, by their own dates. */
export function newest(signatures: readonly SignaturePacket[]): SignaturePacket | undefined {
  return [...signatures].sort((a, b) => Number(b.created) - Number(a.created))[0];
}

/** The signatures by which the key claims its user ids, or by which it claims a subkey. */
function ownSignatures(part: PublicKey | Subkey): SignaturePacket[] {
  return 'users' in part ? part.users.flatMap((user) => user.selfCertifications) : part.bindingSignatures;
}

/** When the part became what it is: its creation, or the newest signature over it (gpg replaces that one when the expiry changes). */
export function validSince(part: PrivateKey | Subkey): Date {
  return new Date(Math.max(Number(part.getCreationTime()), Number(newest(ownSignatures(part))?.created)));
}

async function readAll(text: string): Promise<PrivateKey[]> {
  const found = new Map<string, PrivateKey>();
  for (const binaryKeys of privateKeyPackets(text)) {
    const keys = await readPrivateKeys({ binaryKeys }).catch((cause) => {
      throw damaged('has a private key that cannot be read: it was cut off, changed, or is of an unknown kind', cause);
    });
    for (const key of keys) if (!found.has(fingerprintOf(key))) found.set(fingerprintOf(key), key);
  }
  for (const key of found.values()) preferSha512(key);
  return [...found.values()];
}

/**
 * openpgp.js signs with the weakest hash that the key's owner lists as a preference for mail, or SHA256. A repository has no
 * recipient whose preference counts. The packets keep their bytes: what is written out is not touched.
 */
function preferSha512(key: PrivateKey): void {
  for (const signature of ownSignatures(key)) signature.preferredHashAlgorithms = [enums.hash.sha512];
}

interface WantedFingerprint {
  readonly digits: string;
  readonly exact: boolean;
}

function parseFingerprint(text: string): WantedFingerprint {
  const match = /^(?:0x)?([0-9A-F]{40}|[0-9A-F]{16})(!?)$/i.exec(text.replace(/\s/g, ''));
  if (match?.[1] !== undefined) return { digits: match[1].toUpperCase(), exact: match[2] === '!' };
  throw new Problem({
    code: 'signing-key-fingerprint-malformed',
    title: 'gpg-fingerprint is not a fingerprint',
    what: 'The input gpg-fingerprint is neither 40 hex digits nor the 16 of a long key id.',
    advice: 'Copy the fingerprint that "gpg --list-secret-keys --with-subkey-fingerprint" prints.',
  });
}

function parts(key: PrivateKey): (PrivateKey | Subkey)[] {
  return [key, ...key.subkeys];
}

function matches(part: PrivateKey | Subkey, wanted: WantedFingerprint): boolean {
  return fingerprintOf(part).endsWith(wanted.digits);
}

function secretPacket(part: PrivateKey | Subkey): SecretKeyPacket | SecretSubkeyPacket | undefined {
  const packet = part.keyPacket;
  return packet instanceof SecretKeyPacket && !packet.isDummy() ? packet : undefined;
}

function maySign(part: PrivateKey | Subkey): boolean {
  const flags = newest(ownSignatures(part))?.keyFlags?.[0] ?? 0;
  return (flags & enums.keyFlags.signData) !== 0;
}

/** The parts among which a signer is sought, best first as in gpg: signing subkeys, the newest before others, then the primary key. */
function candidates(key: PrivateKey, wanted: WantedFingerprint | undefined): (PrivateKey | Subkey)[] {
  const named = wanted === undefined ? undefined : parts(key).find((part) => matches(part, wanted));
  if (named !== undefined && (named !== key || wanted?.exact === true)) return [named];
  const subkeys = [...key.subkeys].sort((a, b) => Number(b.getCreationTime()) - Number(a.getCreationTime()));
  return [...subkeys, key];
}

/** The first candidate usable at that time. When none is, the first that could ever sign: `preflight` says why it cannot now. */
async function chooseSigner(key: PrivateKey, wanted: WantedFingerprint | undefined, at: Date) {
  const able = candidates(key, wanted).filter((part) => maySign(part) && secretPacket(part));
  for (const part of able) if (await isUsable(key, part, at)) return part;
  return able[0];
}

/** Whether `part` of `key` could make a signature at that time, by what the key says about itself and not by its strength. */
export async function isUsable(key: PrivateKey, part: PrivateKey | Subkey, at: Date): Promise<boolean> {
  const anyStrength = {
    ...config,
    minRSABits: 0,
    rejectPublicKeyAlgorithms: new Set<never>(),
    rejectCurves: new Set<never>(),
  };
  return key.getSigningKey(part.getKeyID(), at, undefined, anyStrength).then(
    () => true,
    () => false,
  );
}

/** Opens the secret part in place; nothing when it is open, a Problem when it stays shut. */
async function unlock(part: PrivateKey | Subkey, passphrase: string | undefined): Promise<Problem | undefined> {
  const packet = secretPacket(part);
  if (packet === undefined || packet.isDecrypted()) return undefined;
  if (passphrase === undefined || passphrase === '') return locked(part);
  // `echo … | gh secret set` stores a final newline that gpg itself would not read as part of the passphrase.
  const withoutNewline = passphrase.replace(/\r?\n$/, '');
  for (const attempt of new Set([passphrase, withoutNewline])) {
    try {
      await packet.decrypt(attempt);
      return undefined;
    } catch (cause) {
      const wrong = cause instanceof Error && cause.message.startsWith('Incorrect key passphrase');
      if (!wrong) return protectionUnknown(part, cause);
    }
  }
  return wrongPassphrase(part);
}

function notFound(digits: string, keys: readonly PrivateKey[]): Problem {
  const present = keys.flatMap(parts).map(fingerprintOf);
  return new Problem({
    code: 'signing-key-fingerprint-not-found',
    title: 'gpg-fingerprint names no given key',
    what: `The input gpg-private-key holds no key or subkey ${digits}; it holds ${present.join(', ')}.`,
    advice: 'Set gpg-fingerprint to one of these, or leave it out to sign with every key given.',
  });
}

function cannotSign(key: PrivateKey, wanted: WantedFingerprint | undefined): Problem {
  const sought = candidates(key, wanted);
  const stub = sought.find(maySign);
  const named = stub ?? (sought.includes(key) ? key : (sought[0] ?? key));
  const unmarked = `it ${sought.length > 1 ? 'and its subkeys are' : 'is'} not marked for signing`;
  return new Problem({
    code: 'signing-key-cannot-sign',
    title: 'The key cannot sign',
    what: `Key ${fingerprintOf(named)} in the input gpg-private-key cannot sign: ${stub ? 'its secret part is not in the export' : unmarked}.`,
    advice: stub
      ? 'Export the key together with a signing subkey, or where its secret part is kept.'
      : 'Add a signing subkey ("gpg --quick-add-key FINGERPRINT ed25519 sign"), or choose another key with gpg-fingerprint.',
  });
}

function locked(part: PrivateKey | Subkey): Problem {
  return new Problem({
    code: 'signing-key-locked',
    title: 'The signing key needs its passphrase',
    what: `Key ${fingerprintOf(part)} is locked by a passphrase and the input gpg-passphrase is empty.`,
    advice: 'Pass the passphrase as gpg-passphrase, from a secret.',
  });
}

function wrongPassphrase(part: PrivateKey | Subkey): Problem {
  return new Problem({
    code: 'signing-key-wrong-passphrase',
    title: 'Wrong passphrase',
    what: `The input gpg-passphrase does not open key ${fingerprintOf(part)}.`,
    advice:
      'Check the secret for blanks and quotes, and that it belongs to this key: keys given together must share one passphrase.',
  });
}

function protectionUnknown(part: PrivateKey | Subkey, cause: unknown): Problem {
  return new Problem({
    code: 'signing-key-protection-unknown',
    title: 'The key is locked in an unknown way',
    what: `Key ${fingerprintOf(part)} is locked in a way that cannot be opened here.`,
    advice: 'Import it into gpg 2.2 or newer, set its passphrase again ("gpg --change-passphrase") and export it.',
    cause,
  });
}

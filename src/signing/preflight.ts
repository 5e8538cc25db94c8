import { config, enums, type PrivateKey, type Subkey } from 'openpgp';
import { Problem, throwProblems } from '../problem.ts';
import { fingerprintOf, isUsable, newest, type SigningKey, type SigningKeys, validSince } from './keys.ts';

const expiryWarningDays = 60;
const dayMs = 86_400_000;

/**
 * Whether every apt in use will accept signatures that these keys make at `at`, asked before anything is written. What clients
 * refuse was tried with apt 2.2 to 3.3: see `unacceptable` for algorithms, and apt 3 refuses keys that are held together by SHA-1.
 *
 * Returns warnings for the user, one sentence each: a key or subkey that expires within 60 days. Throws `Problem`s, one for each key:
 * `signing-key-algorithm`, `-expired`, `-revoked`, `-not-yet-valid`, `-sha1`, `-unusable`.
 */
export async function preflight(keys: SigningKeys, at: Date): Promise<string[]> {
  const warnings: string[] = [];
  const problems: Problem[] = [];
  for (const signing of keys) {
    const problem = algorithmProblem(signing) ?? (await validityProblem(signing, at));
    if (problem !== undefined) problems.push(problem);
    else warnings.push(...(await expiryWarnings(signing, at)));
  }
  throwProblems(problems);
  return warnings;
}

/** The parts that a signature stands on: the primary key and, where one signs, the subkey. */
function parts({ key, signer }: SigningKey): (PrivateKey | Subkey)[] {
  return key === signer ? [key] : [key, signer];
}

function algorithmProblem(signing: SigningKey): Problem | undefined {
  for (const part of parts(signing)) {
    const reason = unacceptable(part);
    if (reason === undefined) continue;
    return new Problem({
      code: 'signing-key-algorithm',
      title: 'Clients do not accept this kind of key',
      what: `Key ${fingerprintOf(part)} is ${reason}, and apt would reject its signatures.`,
      advice:
        'Make a new key with "gpg --quick-generate-key NAME ed25519 sign never" (or rsa4096), and sign with the new key from now on.',
    });
  }
  return undefined;
}

/** What kind of key this is, if some apt in use refuses it; nothing for RSA from 2048 bits, Ed25519 as gpg makes it, and NIST curves. */
function unacceptable(part: PrivateKey | Subkey): string | undefined {
  const { algorithm, bits = 0, curve } = part.getAlgorithmInfo();
  const { version } = part.keyPacket;
  if (version !== 4) return `an OpenPGP key of version ${version}`;
  if (algorithm === 'rsaEncryptSign' || algorithm === 'rsaSign')
    return bits < 2048 ? `an RSA key of ${bits} bits` : undefined;
  if (algorithm === 'eddsaLegacy') return undefined;
  if (algorithm === 'ecdsa') return curve?.startsWith('nist') ? undefined : `a key on the curve ${curve}`;
  // Algorithms 27 and 28: gpg makes Ed25519 keys as number 22 ("eddsaLegacy"), which is what clients know.
  if (algorithm === 'ed25519' || algorithm === 'ed448')
    return `an ${algorithm} key in the form of RFC 9580 (algorithm ${part.keyPacket.algorithm})`;
  return `a key of the algorithm ${algorithm}`;
}

async function validityProblem({ key, signer }: SigningKey, at: Date): Promise<Problem | undefined> {
  if (await isUsable(key, signer, at)) return (await holdsWithoutSha1(key, signer, at)) ? undefined : sha1(signer);
  for (const part of parts({ key, signer })) {
    if (await isRevoked(key, part, at)) return revoked(part);
    const until = await expiry(part, at);
    if (until !== undefined && until <= at) return expired(key, part, until);
    const since = validSince(part);
    if (since > at) return notYetValid(part, since, at);
  }
  return unusable(signer);
}

/** apt 3 (Sequoia's policy) disregards SHA-1 in self-signatures and bindings since 2026-02-01: such a key is "not bound". */
async function holdsWithoutSha1(key: PrivateKey, signer: PrivateKey | Subkey, at: Date): Promise<boolean> {
  const strict = { ...config, rejectHashAlgorithms: new Set([...config.rejectHashAlgorithms, enums.hash.sha1]) };
  return key.getSigningKey(signer.getKeyID(), at, undefined, strict).then(
    () => true,
    () => false,
  );
}

async function isRevoked(key: PrivateKey, part: PrivateKey | Subkey, at: Date): Promise<boolean> {
  if ('users' in part) return part.isRevoked(undefined, undefined, at);
  const binding = newest(part.bindingSignatures);
  return binding !== undefined && part.isRevoked(binding, key.keyPacket, at);
}

/** The moment from which the part is no longer good; nothing for never. */
async function expiry(part: PrivateKey | Subkey, at: Date): Promise<Date | undefined> {
  const until = 'users' in part ? await part.getExpirationTime() : await part.getExpirationTime(at);
  return until instanceof Date ? until : undefined;
}

async function expiryWarnings(signing: SigningKey, at: Date): Promise<string[]> {
  const warnings: string[] = [];
  for (const part of parts(signing)) {
    const until = await expiry(part, at);
    if (until === undefined) continue;
    const days = Math.floor((Number(until) - Number(at)) / dayMs);
    if (days > expiryWarningDays) continue;
    const name = fingerprintOf(part);
    warnings.push(`Signing key ${name} expires on ${day(until)}, in ${days} days: ${extension(signing.key, part)}.`);
  }
  return warnings;
}

function extension(key: PrivateKey, part: PrivateKey | Subkey): string {
  const target = part === key ? fingerprintOf(key) : `${fingerprintOf(key)} 1y ${fingerprintOf(part)}`;
  const command = part === key ? `gpg --quick-set-expire ${target} 1y` : `gpg --quick-set-expire ${target}`;
  return `extend it with "${command}", export it into the secret again, and publish the new public key`;
}

function expired(key: PrivateKey, part: PrivateKey | Subkey, until: Date): Problem {
  const advice = extension(key, part);
  return new Problem({
    code: 'signing-key-expired',
    title: 'The signing key has expired',
    what: `Key ${fingerprintOf(part)} expired on ${day(until)}, and apt would reject its signatures.`,
    advice: `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`,
  });
}

function revoked(part: PrivateKey | Subkey): Problem {
  return new Problem({
    code: 'signing-key-revoked',
    title: 'The signing key is revoked',
    what: `Key ${fingerprintOf(part)} is revoked, and apt would reject its signatures.`,
    advice: 'Sign with another key; if it was revoked for theft, tell the users of the repository.',
  });
}

function notYetValid(part: PrivateKey | Subkey, since: Date, at: Date): Problem {
  return new Problem({
    code: 'signing-key-not-yet-valid',
    title: 'The signing key is not valid yet',
    what: `Key ${fingerprintOf(part)} is valid from ${since.toISOString()}, and the signature would be of ${at.toISOString()}.`,
    advice:
      'Check the clock of the machine that made the key, and SOURCE_DATE_EPOCH; if the key is newer than a minute, try again.',
  });
}

function sha1(part: PrivateKey | Subkey): Problem {
  return new Problem({
    code: 'signing-key-sha1',
    title: 'The key rests on SHA-1',
    what: `Key ${fingerprintOf(part)} is held together by SHA-1 signatures of its own, which apt 3 rejects.`,
    advice:
      'Set its expiry again with a current gpg ("gpg --quick-set-expire FINGERPRINT never", and once more with "*" for the subkeys), which renews them with SHA-256 or better, then export it again and publish the new public key.',
  });
}

function unusable(part: PrivateKey | Subkey): Problem {
  return new Problem({
    code: 'signing-key-unusable',
    title: 'The signing key is not valid',
    what: `Key ${fingerprintOf(part)} has no valid self-signature, user id or subkey binding to sign with.`,
    advice: 'Look at it with "gpg --check-signatures", repair or replace it, and export it again.',
  });
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

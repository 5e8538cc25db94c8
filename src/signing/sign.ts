import { createCleartextMessage, createMessage, enums, sign } from 'openpgp';
import { Problem, throwProblems } from '../problem.ts';
import { fingerprintOf, isUsable, type SigningKeys, validSince } from './keys.ts';
import { publicKeys, verifyDetached, verifyInRelease } from './verify.ts';

/**
 * Signs a Release file with every key: `inRelease` is it clear-signed, `releaseGpg` an armoured detached signature over its bytes,
 * SHA512 in both. Lines end with LF and the text's final newline stays inside the signed text (debootstrap needs both).
 *
 * The same release, keys and date give the same bytes, for RSA and Ed25519; ECDSA (NIST curves) draws a random number.
 *
 * `date` becomes the time of the signatures, in whole seconds. Choose it a little in the past: apt 3 refuses a signature one minute
 * ahead of its own clock. It must not precede the keys or their self-signatures (`signing-date-before-key`).
 *
 * Both results are verified with the public parts, and the text is read back out of `inRelease`, before they are returned. A
 * difference, or a release that no client would read as it was meant, is a defect and thrown as one.
 */
export async function signRelease(
  release: string,
  keys: SigningKeys,
  date: Date,
): Promise<{ inRelease: string; releaseGpg: string }> {
  assertSignable(release);
  await assertNotBeforeKeys(keys, date);
  const options = {
    signingKeys: keys.map(({ key }) => key),
    signingKeyIDs: keys.map(({ signer }) => signer.getKeyID()),
    date,
    config: { preferredHashAlgorithm: enums.hash.sha512, nonDeterministicSignaturesViaNotation: false },
  };
  const bytes = new TextEncoder().encode(release);
  const clearSigned = await sign({ message: await createCleartextMessage({ text: release }), ...options });
  const detached = await sign({ message: await createMessage({ binary: bytes }), detached: true, ...options });
  // openpgp.js writes the text with CRLF. Verifiers normalise line ends themselves, so LF verifies too; debootstrap reads only LF.
  const signed = { inRelease: clearSigned.replaceAll('\r\n', '\n'), releaseGpg: detached.replaceAll('\r\n', '\n') };
  await assertVerifies(release, bytes, signed, keys);
  return signed;
}

/** Dash-escaping and the removal of trailing blanks would give InRelease another text than Release has. */
function assertSignable(release: string): void {
  if (!release.endsWith('\n')) throw new Error('A Release file must end with a newline.');
  if (release.includes('\r')) throw new Error('A Release file must not contain a carriage return.');
  if (/^-/m.test(release)) throw new Error('No line of a Release file may begin with "-".');
  if (/[ \t]$/m.test(release)) throw new Error('No line of a Release file may end with a blank.');
}

async function assertNotBeforeKeys(keys: SigningKeys, date: Date): Promise<void> {
  const problems: Problem[] = [];
  for (const { key, signer } of keys) {
    if (await isUsable(key, signer, date)) continue;
    const since = new Date(Math.max(Number(validSince(key)), Number(validSince(signer))));
    if (since <= date) continue;
    problems.push(
      new Problem({
        code: 'signing-date-before-key',
        title: 'The signing date precedes the key',
        what: `The signature of ${iso(date)} would be older than key ${fingerprintOf(signer)}, which is usable since ${iso(since)}.`,
        advice:
          'Set SOURCE_DATE_EPOCH to a later moment or leave it out; if the key is newer than a minute, try again.',
      }),
    );
  }
  throwProblems(problems);
}

async function assertVerifies(
  release: string,
  bytes: Uint8Array,
  signed: { inRelease: string; releaseGpg: string },
  keys: SigningKeys,
): Promise<void> {
  const trusted = publicKeys(keys);
  const read = await verifyInRelease(new TextEncoder().encode(signed.inRelease), trusted, 'The InRelease just signed');
  const { signedBy } = await verifyDetached(bytes, signed.releaseGpg, trusted, 'The Release.gpg just signed');
  if (read.release !== release) throw new Error('The text of the InRelease just signed differs from Release.');
  if (read.signedBy.length !== keys.length || signedBy.length !== keys.length)
    throw new Error('A given key did not sign.');
}

function iso(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

import { Problem } from '../problem.ts';

/**
 * The OpenPGP packets in what somebody pasted into a CI secret: one `Uint8Array` for each private key block, or one for base64
 * without armour. Forgives what copying does to armour: CRLF, indentation, quotes around it, newlines that became blanks
 * or a literal `\n`, base64 around the whole. The checksum line is dropped unread, as RFC 9580 §6.1 permits: key packets
 * and self-signatures carry better ones.
 *
 * Throws a `Problem` that says what the text looks like when it is no private key. No byte of the text is ever in it.
 */
export function privateKeyPackets(text: string): Uint8Array[] {
  const pasted = plainText(text);
  if (pasted === '') throw missing();
  const armoured = pasted.includes(begin) ? pasted : base64Decoded(pasted);
  if (typeof armoured === 'string') return armouredPackets(armoured);
  if (armoured !== undefined && isSecretKeyPacket(armoured)) return [armoured];
  throw notAKey(appearance(pasted, armoured));
}

const begin = '-----BEGIN PGP ';
const privateBlock = /-----BEGIN PGP PRIVATE KEY BLOCK-----(.*?)-----END PGP PRIVATE KEY BLOCK-----/gs;
const base64Text = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Where the base64 of an armoured key begins: every program wraps it at 60 columns or more, and no word of an armour header
 * is a run of that many base64 characters. So header lines are told from data even where the line ends are lost.
 */
const firstDataWord = /^[A-Za-z0-9+/]{56,}(=|$)/;
const checksum = /=[A-Za-z0-9+/]{4}$/;

function plainText(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/\\r\\n|\\n/g, '\n')
    .trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .trim();
}

function armouredPackets(text: string): Uint8Array[] {
  const blocks = [...text.matchAll(privateBlock)].map((match) => packetsOfBody(match[1] ?? ''));
  const begun = text.split(`${begin}PRIVATE KEY BLOCK-----`).length - 1;
  if (begun > blocks.length) throw damaged('has a private key block without its END line');
  if (blocks.length === 0) throw notAKey(appearance(text, undefined));
  return blocks;
}

function packetsOfBody(body: string): Uint8Array {
  const words = body.split(/\s+/).filter((word) => word !== '');
  const first = words.findIndex((word) => firstDataWord.test(word));
  const joined = words
    .slice(first === -1 ? words.length : first)
    .join('')
    .replace(checksum, '');
  if (!base64Text.test(joined)) throw damaged('has a private key block that is not base64');
  return Buffer.from(joined, 'base64');
}

/** Text when armour was inside the base64, bytes otherwise, nothing when it is not base64 at all. */
function base64Decoded(text: string): string | Uint8Array | undefined {
  const joined = text.replace(/\s+/g, '');
  if (!base64Text.test(joined)) return undefined;
  const bytes = Buffer.from(joined, 'base64');
  const inner = bytes.toString('latin1');
  return inner.includes(begin) ? plainText(inner) : bytes;
}

/** The first octet of a packet gives its type, in two forms (RFC 9580 §4.2). */
function packetTag(bytes: Uint8Array): number | undefined {
  const octet = bytes[0] ?? 0;
  if ((octet & 0x80) === 0) return undefined;
  return (octet & 0x40) === 0 ? (octet >> 2) & 0x0f : octet & 0x3f;
}

function isSecretKeyPacket(bytes: Uint8Array): boolean {
  return bytes.length > 32 && packetTag(bytes) === 5;
}

function appearance(text: string, decoded: Uint8Array | undefined): string {
  const kinds: [boolean, string][] = [
    [text.includes(`${begin}PUBLIC KEY BLOCK-----`), 'a public key'],
    [/-----BEGIN PGP (SIGNED )?MESSAGE-----/.test(text), 'an OpenPGP message'],
    [text.includes(`${begin}SIGNATURE-----`), 'an OpenPGP signature'],
    [/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text), 'an SSH or TLS key, not an OpenPGP key'],
    [/-----BEGIN /.test(text), 'PEM text, not an OpenPGP key'],
    [/^<(!doctype|html|\?xml|head|body)\b/i.test(text), 'an HTML page'],
    [/\$\{\{.*\}\}|^\$[A-Z_{]/s.test(text), 'the name of a variable that was not expanded'],
    [/^\*+$/.test(text), 'the asterisks with which secrets are masked in logs'],
    [/^(0x)?([0-9A-Fa-f]{4} ?){2,16}$/.test(text), 'a fingerprint or key id, not the key itself'],
    [/^(~|\.{1,2})?\/\S+$|^\S+\.(asc|gpg|key|pgp|pem|txt)$/.test(text), 'the path of a file, not what is in the file'],
    [/[\uFFFD\0]/.test(text), 'a binary file read as text'],
    [decoded !== undefined && packetTag(decoded) === 6 && decoded.length > 32, 'a public key in base64'],
    [decoded !== undefined && decoded.length > 32, 'base64 of something that is not an OpenPGP private key'],
  ];
  return kinds.find(([matches]) => matches)?.[1] ?? 'text that is not a key';
}

const howToExport = 'gpg --armor --export-secret-keys FINGERPRINT';

function missing(): Problem {
  return new Problem({
    code: 'signing-key-missing',
    title: 'No signing key',
    what: 'The input gpg-private-key is empty.',
    advice: `Put the output of "${howToExport}" into a secret and pass it, and check that the workflow may read secrets (a pull request from a fork may not).`,
  });
}

function notAKey(looksLike: string): Problem {
  return new Problem({
    code: 'signing-key-not-a-key',
    title: 'The signing key is not a private key',
    what: `The input gpg-private-key looks like ${looksLike}.`,
    advice: `Pass the output of "${howToExport}", armoured as it is or in base64.`,
  });
}

/** For key text that began well and cannot be read to its end. */
export function damaged(how: string, cause?: unknown): Problem {
  return new Problem({
    code: 'signing-key-damaged',
    title: 'The signing key is damaged',
    what: `The input gpg-private-key ${how}.`,
    advice: `Export it again with "${howToExport}" and store the whole output; base64 of it survives any form of copying.`,
    cause,
  });
}

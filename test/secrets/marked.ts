import { createHash } from 'node:crypto';
import { decryptKey, generateKey, readPrivateKey } from 'openpgp';

/** Secrets that nobody has used before, with characters that encodings change, and every form in which one could get out. */
export interface Marked {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly githubToken: string;
  readonly passphrase: string;
  /** Armored, locked with the passphrase. */
  readonly privateKey: string;
  /** What would give one of them away, with the name of the one. */
  readonly forms: readonly Form[];
}

export interface Form {
  readonly of: string;
  readonly as: string;
  readonly text: string;
}

/** Text that looks random and is the same on every run. */
function drawn(name: string, length: number): string {
  return createHash('sha512').update(name).digest('base64').replaceAll(/[+/=]/g, '').slice(0, length);
}

export async function markedSecrets(): Promise<Marked> {
  const secrets = {
    accessKeyId: `AKIA${drawn('id', 16).toUpperCase()}`,
    secretAccessKey: `${drawn('secret', 30)}/+=${drawn('more', 7)}`,
    sessionToken: `${drawn('token', 60)}/+${drawn('rest', 60)}==`,
    githubToken: `ghs_${drawn('github', 36)}`,
    passphrase: `päss "${drawn('passphrase', 20)}" %&<word>`,
  };
  const { passphrase } = secrets;
  const { privateKey } = await generateKey({
    type: 'ecc',
    curve: 'ed25519Legacy',
    userIDs: [{ name: 'Archive', email: 'archive@example.org' }],
    date: new Date('2025-01-01T00:00:00Z'),
    passphrase,
    format: 'armored',
  });
  const forms: Form[] = Object.entries(secrets).flatMap(([of, text]) => formsOf(of, Buffer.from(text)));
  const lines = privateKey.split(/\r?\n/).filter((line) => /^[A-Za-z0-9+/=]{40,}$/.test(line));
  forms.push(...lines.map((text) => ({ of: 'privateKey', as: 'a line of it', text })));
  forms.push(...formsOf('privateKey', Buffer.from(lines.join(''), 'base64').subarray(40, 100)));
  const unlocked = await decryptKey({ privateKey: await readPrivateKey({ armoredKey: privateKey }), passphrase });
  for (const { keyPacket } of unlocked.getKeys())
    forms.push(...formsOf('privateKey, unlocked', secretNumber(keyPacket)));
  return { ...secrets, privateKey, forms };
}

/** The secret number of an elliptic key. */
function secretNumber(packet: object): Buffer {
  const parameters: unknown = 'privateParams' in packet ? packet.privateParams : undefined;
  const number = Object.values(parameters ?? {}).find((value) => value instanceof Uint8Array);
  if (number === undefined) throw new Error('The key was not unlocked.');
  return Buffer.from(number);
}

/** The bytes as they are, in hex, in base64 wherever it begins, and in a URL, JSON and a workflow command. */
function formsOf(of: string, bytes: Buffer): Form[] {
  const text = bytes.toString();
  // Read as the middle of something longer: the groups that also hold bytes of a neighbour are left out.
  const aligned = [0, 1, 2].map((skip) => {
    const whole = bytes.subarray(skip, bytes.length - ((bytes.length - skip) % 3));
    return whole.toString('base64');
  });
  const forms: [as: string, text: string][] = [
    ['hex', bytes.toString('hex')],
    ['HEX', bytes.toString('hex').toUpperCase()],
    ...aligned.map((form): [string, string] => ['base64', form]),
    ...aligned.map((form): [string, string] => ['base64url', form.replaceAll('+', '-').replaceAll('/', '_')]),
    ['list of bytes', [...bytes].join(',')],
  ];
  if (Buffer.from(text).equals(bytes)) {
    forms.push(
      ['text', text],
      ['URL', encodeURIComponent(text)],
      ['form', new URLSearchParams({ '': text }).toString().slice(1)],
    );
    forms.push(['JSON', JSON.stringify(text).slice(1, -1)], ['command', text.replaceAll('%', '%25')]);
    forms.push(['HTML', text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')]);
  }
  // Of two names for one text the first is kept.
  return [...new Map(forms.toReversed().map(([as, form]) => [form, { of, as, text: form }])).values()];
}

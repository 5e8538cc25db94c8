import { readFileSync } from 'node:fs';

/** A change of one source file: `from` stands there exactly once. */
interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export type SuiteName = 'crash' | 'race';

/** A rule of the transaction, and how to break it. */
export interface SeededFault {
  readonly name: string;
  /** What is wrong then, in a few words. */
  readonly breaks: string;
  /** Which suites must fail. */
  readonly seenBy: readonly SuiteName[];
  /** What is found then. */
  readonly shows: RegExp;
  readonly edits: readonly Edit[];
}

const both: readonly SuiteName[] = ['crash', 'race'];

export const seededFaults: readonly SeededFault[] = [
  {
    name: 'claim-before-stage',
    breaks: 'the record names indexes that are staged only after it',
    seenBy: both,
    shows: /the record of \w+ names .* is missing/,
    edits: [
      { file: 'transaction.ts', from: '  await stage(run, prepared, built);\n', to: '' },
      {
        file: 'transaction.ts',
        from: '    if (claim !== undefined) {\n',
        to: '    await stage(run, prepared, generation.built);\n    if (claim !== undefined) {\n',
      },
    ],
  },
  {
    name: 'commit-before-rename',
    breaks: 'the head is written before the canonical names that it lists',
    seenBy: both,
    shows: /is not what the head says|Packages\.gz of sid is missing/,
    edits: [
      { file: 'finish.ts', from: "    await phase(run, 'rename', claim.suite, rename, guard);\n", to: '' },
      {
        file: 'finish.ts',
        from: "    const outcome = await phase(run, 'commit', claim.suite, committing, guard);\n",
        to: "    const outcome = await phase(run, 'commit', claim.suite, committing, guard);\n    await phase(run, 'rename', claim.suite, rename, guard);\n",
      },
    ],
  },
  {
    name: 'rename-before-claim',
    breaks: 'canonical names change before anybody has claimed',
    seenBy: both,
    shows: /is not what the head says|Packages\.gz of sid is missing/,
    edits: [
      {
        file: 'stage.ts',
        from: 'store.put(byHashKey(suite, path, sha256), bytes, immutableAttributes(path, sha256)),',
        to: "store.put(byHashKey(suite, path, sha256), bytes, immutableAttributes(path, sha256)).then(() => store.copy(byHashKey(suite, path, sha256), 'dists/' + suite + '/' + path, immutableAttributes(path, sha256))),",
      },
    ],
  },
  {
    name: 'delete-before-grace',
    breaks: 'a generation is condemned as soon as it is replaced',
    seenBy: both,
    shows: /has forgotten \d of its last generations/,
    edits: [
      { file: 'next-record.ts', from: 'const keptAtLeast = 2;', to: 'const keptAtLeast = 0;' },
      { file: 'next-record.ts', from: 'const keptFor = 24 * 3600_000;', to: 'const keptFor = 0;' },
    ],
  },
  {
    name: 'no-condition-on-claim',
    breaks: 'a claim replaces whatever record is there',
    seenBy: both,
    shows: /is not in sid|readers see|went from generation|which is missing|names .* is missing/,
    edits: [
      {
        file: 'swap.ts',
        from: '...(enforced ? { condition } : {}),',
        to: "...(enforced && !key.endsWith('.json') ? { condition } : {}),",
      },
    ],
  },
  {
    name: 'no-condition-on-head',
    breaks: 'a commit replaces whatever head is there',
    seenBy: both,
    shows: /the head of \w+ went from generation|record and head of \w+ are apart/,
    edits: [
      {
        file: 'swap.ts',
        from: '...(enforced ? { condition } : {}),',
        to: "...(enforced && !key.startsWith('dists/') ? { condition } : {}),",
      },
    ],
  },
  {
    name: 'no-restoring',
    breaks: 'an overtaken run leaves the names that it has written late',
    seenBy: both,
    shows: /is not what the head says|Packages\.gz of sid is missing/,
    edits: [{ file: 'finish.ts', from: '  if (claim.late) {\n', to: '  if (false) {\n' }],
  },
  {
    name: 'unverified-read',
    breaks: 'an index is believed without its hash',
    seenBy: both,
    shows: /lists evil\/.*, which is missing/,
    edits: [
      {
        file: 'read-indexes.ts',
        from: '  if (digest(bytes) === file.sha256) return;\n',
        to: '  return;\n',
      },
    ],
  },
  {
    name: 'no-lease',
    breaks: 'a claimer past its limit writes on without renewing its claim',
    seenBy: both,
    shows: /is not what the head says|did not match the regular expression .*alice PUT/,
    edits: [
      {
        file: 'claim-guard.ts',
        from: '    if (!this.#isOver(run)) return;\n    this.#renewing',
        to: '    return;\n    this.#renewing',
      },
    ],
  },
  {
    name: 'take-over-at-once',
    breaks: 'a claim that was renewed is taken over without its time being waited for',
    seenBy: ['race'],
    shows: /is not what the head says|Packages\.gz of sid is missing/,
    edits: [
      {
        file: 'settle.ts',
        from: '    if (last.published.recordEtag !== sight.published.recordEtag) continue;\n',
        to: '',
      },
    ],
  },
  {
    name: 'no-second-look',
    breaks: 'a publisher does not look at the record of the pool again after its claim',
    seenBy: ['race'],
    shows: /which is missing/,
    edits: [
      {
        file: 'pool-look.ts',
        from: '    if (now.version === version && !condemned.some((file) => mine.has(file))) return;\n',
        to: '    return;\n',
      },
    ],
  },
];

const sources = new URL('../../src/publish/', import.meta.url);

/** The address of a source file as it is loaded. */
export function addressOf({ file }: Edit): string {
  return new URL(file, sources).href;
}

/** A source file with the edits of a fault that are for it. Throws when one does not fit: then the source has moved on. */
export function withFault({ name, edits }: SeededFault, address: string, source: string): string {
  return edits
    .filter((edit) => addressOf(edit) === address)
    .reduce((text, { file, from, to }) => {
      if (text.split(from).length !== 2)
        throw new Error(`The fault ${name} does not fit src/publish/${file} any more.`);
      return text.replace(from, () => to);
    }, source);
}

/** Throws when the fault does not fit the sources any more. */
export function requireFits(fault: SeededFault): void {
  for (const address of new Set(fault.edits.map(addressOf))) {
    withFault(fault, address, readFileSync(new URL(address), 'utf8'));
  }
}

import type { SeededFault, Sight } from './seeded-fault.ts';

const inHostile = (file: string, shows: RegExp): Sight => ({ suites: ['hostile'], files: [file], shows });

/** What keeps bytes of strangers from doing more than they may. */
export const intakeFaults: readonly SeededFault[] = [
  {
    name: 'unverified-head',
    breaks: 'a head is believed whoever has signed it',
    seenBy: [inHostile('tampered.test.ts', /another key signed it.*Missing expected rejection/s)],
    edits: [
      { file: 'signing/verify.ts', from: '  if (good.size > 0) return [...good];\n', to: '  return [...good];\n' },
    ],
  },
  {
    name: 'no-bomb-limit',
    breaks: 'what is unpacked may have any size',
    seenBy: [inHostile('bombs.test.ts', /is refused, with the limit.*Missing expected rejection/s)],
    edits: [{ file: 'codec/codecs.ts', from: '      if (size > limit) throw limitProblem(origin, limit);\n', to: '' }],
  },
  {
    name: 'paths-unchecked',
    breaks: 'a record may name paths outside its suite',
    seenBy: [inHostile('tampered.test.ts', /names "\.\.\/trixie\/InRelease".*Missing expected rejection/s)],
    edits: [
      {
        file: 'publish/stored-path.ts',
        from: 'v.pipe(v.string(), v.regex(plainPath), v.maxLength(1024))',
        to: 'v.pipe(v.string(), v.maxLength(1024))',
      },
    ],
  },
  {
    name: 'names-unchecked',
    breaks: 'a package may have any name',
    seenBy: [inHostile('intake.test.ts', /a name that leaves the pool.*pool\/main\/\.\//s)],
    edits: [
      {
        file: 'debian/control.ts',
        from: 'export function packageNameFault(text: string): string | undefined {\n',
        to: 'export function packageNameFault(text: string): string | undefined {\n  if (text.length > 2) return undefined;\n',
      },
    ],
  },
  {
    name: 'second-stanza-passed-over',
    breaks: 'what follows the stanza of a control file is not looked at',
    seenBy: [inHostile('intake.test.ts', /a second stanza is refused.*Missing expected rejection/s)],
    edits: [
      {
        file: 'debian/deb822.ts',
        from: "      note(found, 'second-stanza', place);\n      break;\n",
        to: '      break;\n',
      },
    ],
  },
  {
    name: 'words-unquoted',
    breaks: 'text of strangers goes into messages as it is',
    seenBy: [inHostile('seeds.test.ts', /has a control character/)],
    edits: [
      {
        file: 'debian/deb822.ts',
        from: 'export function quoted(text: string, length = 60): string {\n',
        to: 'export function quoted(text: string, length = 60): string {\n  if (length > 0) return text;\n',
      },
    ],
  },
  {
    name: 'secrets-unmasked',
    breaks: 'the runner is not told what it has to hide',
    seenBy: [inHostile('secrets.test.ts', /is masked before anything else.*masks\.includes/s)],
    edits: [{ file: 'action/secrets.ts', from: '      this.#mask(part);\n', to: '' }],
  },
  {
    name: 'memory-in-core-files',
    breaks: 'a core file holds the memory of the process',
    seenBy: [inHostile('core-file.test.ts', /in its core file.*secretAccessKey as text/s)],
    edits: [{ file: 'main.ts', from: 'keepMemoryOutOfCoreFiles();\n', to: '' }],
  },
];

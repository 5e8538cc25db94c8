import type { SeededFault, Sight } from './seeded-fault.ts';

const inProofs = (shows: RegExp): Sight => ({ suites: ['crash', 'race'], shows });
const inClients = (shows: RegExp): Sight => ({ suites: ['clients'], files: ['straddles.test.ts'], shows });

/** Rules of the transaction, and how to break them. */
export const transactionFaults: readonly SeededFault[] = [
  {
    name: 'claim-before-stage',
    breaks: 'the record names indexes that are staged only after it',
    seenBy: [inProofs(/the record of \w+ names .* is missing/)],
    edits: [
      { file: 'publish/transaction.ts', from: '  await stage(run, prepared, built);\n', to: '' },
      {
        file: 'publish/transaction.ts',
        from: '    if (claim !== undefined) {\n',
        to: '    await stage(run, prepared, generation.built);\n    if (claim !== undefined) {\n',
      },
    ],
  },
  {
    name: 'commit-before-rename',
    breaks: 'the head is written before the canonical names that it lists',
    seenBy: [
      inProofs(/is not what the head says|Packages\.gz of sid is missing/),
      inClients(/never fails: by name.*(?:Hash Sum mismatch|unexpected size)/s),
    ],
    edits: [
      { file: 'publish/finish.ts', from: "    await phase(run, 'rename', claim.suite, rename, guard);\n", to: '' },
      {
        file: 'publish/finish.ts',
        from: "    const [outcome] = await together(phase(run, 'commit', claim.suite, committing, guard), beside.commit?.());\n",
        to: "    const [outcome] = await together(phase(run, 'commit', claim.suite, committing, guard), beside.commit?.());\n    await phase(run, 'rename', claim.suite, rename, guard);\n",
      },
    ],
  },
  {
    name: 'head-before-indexes',
    breaks: 'the head is written before the indexes that it lists, under any name',
    seenBy: [inClients(/never fails: by hash.*(?:Hash Sum mismatch|unexpected size)/s)],
    edits: [
      { file: 'publish/transaction.ts', from: '  await stage(run, prepared, built);\n', to: '' },
      {
        file: 'publish/transaction.ts',
        from: '    if (claim !== undefined) {\n',
        to: '    if (claim !== undefined) {\n      Object.assign(claim, { stage: () => stage(run, prepared, generation.built) });\n',
      },
      { file: 'publish/finish.ts', from: "    await phase(run, 'rename', claim.suite, rename, guard);\n", to: '' },
      {
        file: 'publish/finish.ts',
        from: "    const [outcome] = await together(phase(run, 'commit', claim.suite, committing, guard), beside.commit?.());\n",
        to: "    const [outcome] = await together(phase(run, 'commit', claim.suite, committing, guard), beside.commit?.());\n    await claim.stage();\n    await phase(run, 'rename', claim.suite, rename, guard);\n",
      },
    ],
  },
  {
    name: 'rename-before-claim',
    breaks: 'canonical names change before anybody has claimed',
    seenBy: [inProofs(/is not what the head says|Packages\.gz of sid is missing/)],
    edits: [
      {
        file: 'publish/stage.ts',
        from: '    await wave(largestFirst, ({ path, bytes, sha256 }) =>\n',
        to: "    await wave(largestFirst, async ({ path, bytes, sha256 }) => {\n      const attributes = immutableAttributes(path, sha256);\n      await store.put(byHashKey(suite, path, sha256), bytes, attributes);\n      await store.copy(byHashKey(suite, path, sha256), 'dists/' + suite + '/' + path, attributes);\n    });\n    await wave(largestFirst, ({ path, bytes, sha256 }) =>\n",
      },
    ],
  },
  {
    name: 'delete-before-grace',
    breaks: 'a generation is condemned as soon as it is replaced',
    seenBy: [
      inProofs(/has forgotten \d of its last generations/),
      inClients(/never fails: by hash.*(?:Hash Sum mismatch|unexpected size)/s),
    ],
    edits: [
      { file: 'publish/next-record.ts', from: 'const keptAtLeast = 2;', to: 'const keptAtLeast = 0;' },
      { file: 'publish/next-record.ts', from: 'const keptFor = 24 * 3600_000;', to: 'const keptFor = 0;' },
    ],
  },
  {
    name: 'no-condition-on-claim',
    breaks: 'a claim replaces whatever record is there',
    seenBy: [
      inProofs(/is not in sid|readers see|went from generation|which is missing|names .* is missing/),
      { suites: ['vendors'], files: ['competing-writer.test.ts'], shows: /served late: .*theirs 1\.0/s },
    ],
    edits: [
      {
        file: 'publish/swap.ts',
        from: '...(enforced ? { condition, overlaps: true } : {}),',
        to: "...(enforced && !key.endsWith('.json') ? { condition, overlaps: true } : {}),",
      },
    ],
  },
  {
    name: 'no-condition-on-head',
    breaks: 'a commit replaces whatever head is there',
    seenBy: [inProofs(/the head of \w+ went from generation|record and head of \w+ are apart/)],
    edits: [
      {
        file: 'publish/swap.ts',
        from: '...(enforced ? { condition, overlaps: true } : {}),',
        to: "...(enforced && !key.startsWith('dists/') ? { condition, overlaps: true } : {}),",
      },
    ],
  },
  {
    name: 'no-restoring',
    breaks: 'an overtaken run leaves the names that it has written late',
    seenBy: [inProofs(/is not what the head says|Packages\.gz of sid is missing/)],
    edits: [{ file: 'publish/finish.ts', from: '  if (claim.late) {\n', to: '  if (false) {\n' }],
  },
  {
    name: 'unverified-read',
    breaks: 'an index is believed without its hash and its size',
    seenBy: [
      inProofs(/lists evil\/.*, which is missing/),
      {
        suites: ['hostile'],
        files: ['tampered.test.ts'],
        shows: /under its own hash is refused.*Missing expected rejection/s,
      },
    ],
    edits: [
      {
        file: 'publish/read-indexes.ts',
        from: '  if (digest(bytes) !== file.sha256) throw indexChanged(bytes, file, suite);\n',
        to: '',
      },
      {
        file: 'publish/read-indexes.ts',
        from: '    if (twin !== undefined && content.length !== twin.size) throw indexChanged(content, twin, suite);\n',
        to: '',
      },
    ],
  },
  {
    name: 'no-lease',
    breaks: 'a claimer past its limit writes on without renewing its claim',
    seenBy: [inProofs(/is not what the head says|did not match the regular expression .*alice PUT/)],
    edits: [
      {
        file: 'publish/claim-guard.ts',
        from: '    if (!this.#isOver(run)) return;\n    this.#renewing',
        to: '    return;\n    this.#renewing',
      },
    ],
  },
  {
    name: 'take-over-at-once',
    breaks: 'a claim that was renewed is taken over without its time being waited for',
    seenBy: [{ suites: ['race'], shows: /is not what the head says|Packages\.gz of sid is missing/ }],
    edits: [
      {
        file: 'publish/settle.ts',
        from: '    if (last.published.recordEtag !== sight.published.recordEtag) continue;\n',
        to: '',
      },
    ],
  },
  {
    name: 'no-second-look',
    breaks: 'a publisher does not look at the record of the pool again after its claim',
    seenBy: [{ suites: ['race'], shows: /which is missing/ }],
    edits: [
      {
        file: 'publish/pool-look.ts',
        from: '    if (now.version === version && !condemned.some((file) => mine.has(file))) return;\n',
        to: '    return;\n',
      },
    ],
  },
];

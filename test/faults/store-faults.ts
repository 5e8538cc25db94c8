import type { SeededFault, Sight } from './seeded-fault.ts';

const inVendors = (file: string, shows: RegExp): Sight => ({ suites: ['vendors'], files: [file], shows });

/** What is believed of a store, and of its answers. */
export const storeFaults: readonly SeededFault[] = [
  {
    name: 'lost-answer-is-success',
    breaks: 'a conditional write whose answer was lost is taken for done without looking',
    seenBy: [inVendors('each-request.test.ts', /500 before it took effect at PUT \.apt-publish\/bookworm\.json: /)],
    edits: [
      {
        file: 'publish/swap.ts',
        from: '      cause = error;\n',
        to: "      cause = error;\n      if (error.ambiguous) return { swapped: true, etag: '', answered: true };\n",
      },
    ],
  },
  {
    name: 'lost-answer-is-failure',
    breaks: "a conditional write whose answer was lost is taken for somebody else's",
    seenBy: [inVendors('each-request.test.ts', /500 after it took effect at PUT \.apt-publish\/bookworm\.json: /)],
    edits: [
      {
        file: 'publish/swap.ts',
        from: '    if (now.found && Buffer.compare(now.body, body) === 0) return { swapped: true, etag: now.etag, answered: false };\n',
        to: '    if (now.found && Buffer.compare(now.body, body) === 0) return { swapped: false };\n',
      },
    ],
  },
  {
    name: 'probe-skipped',
    breaks: 'every store is believed to hold conditions',
    seenBy: [inVendors('vendors.test.ts', /conditions ignored.*'enforced' !== 'none'/s)],
    edits: [
      {
        file: 'publish/carry-out.ts',
        from: "phase(run, 'probe', undefined, ({ store }) => probe(store));",
        to: "Promise.resolve<Conditions>({ kind: 'enforced', etags: 'bare' });",
      },
    ],
  },
  {
    name: 'forbidden-is-missing',
    breaks: '"forbidden" is taken for "not found", and a live suite for a new one',
    seenBy: [inVendors('known-object-faults.test.ts', /403 for a missing key.*the run succeeded/s)],
    edits: [
      {
        file: 'store/s3-errors.ts',
        from: '  return isMissing(failure) || failure.status === 416 ?',
        to: '  return isMissing(failure) || failure.status === 403 || failure.status === 416 ?',
      },
    ],
  },
  {
    name: 'checksums-sent',
    breaks: 'requests carry the checksums that only some stores understand',
    seenBy: [inVendors('known-object-faults.test.ts', /no framing, checksum.*x-amz-checksum-crc32/s)],
    edits: [
      {
        file: 'store/s3-connection.ts',
        from: "requestChecksumCalculation: 'WHEN_REQUIRED'",
        to: "requestChecksumCalculation: 'WHEN_SUPPORTED'",
      },
    ],
  },
];

import { join } from 'node:path';
import { openBucket } from '../laboratory.ts';
import { startLine } from '../line.ts';
import { ratio, type Side } from '../measurement.ts';
import { writeSmallDebs } from '../sample-debs.ts';
import { allIn, ourSide, rowNamed, type Scenario } from '../scenario.ts';
import type { Lateness } from '../tap.ts';

const suite = 'bench';
const delayMs = 20;
const lateMs = 2000;
const share = 0.05;
const calmRow = 'ours, auto, no late requests';
const handledRow = 'ours, auto';
const plainRow = 'ours, 16 in flight, which is obeyed exactly: nothing is hedged or sent again';

/** A bimodal tail, as it was seen in the wild: neighbours of 0.3 to 0.45 s beside 2.0 to 2.5 s. */
export const tail: Scenario = {
  about: `300 small packages into an empty store, ${delayMs} ms away each way, that takes ${lateMs / 1000} s longer for 5 % of requests`,
  measure: async (bench) => {
    const { laboratory, size, compare } = bench;
    await using bucket = await openBucket();
    const folder = join(laboratory.folder, 'tail');
    await writeSmallDebs(folder, 'small', size(300, 40), 4000);
    const numbers = { 'upload-concurrency': '16', 'rename-concurrency': '16' };
    const sides = [
      { what: calmRow, settings: {}, late: 0 },
      { what: handledRow, settings: {}, late: share },
      { what: plainRow, settings: numbers, late: share },
    ].map(({ what, settings, late }): Side => {
      const inputs = () => ({ suites: suite, architectures: 'amd64', packages: allIn(folder), ...settings });
      return {
        what,
        run: async (round) => {
          // Every side of a round meets the same requests late, by the order in which they come.
          await using line = await startLine(bucket.endpoint, { delayMs, lateness: lateness(round, late) });
          return await ourSide(bench, { what, bucket, prefix: prefixOf(what, round), line, inputs }).run(round);
        },
      };
    });
    const rows = await compare(sides);
    const [calm, handled, plain] = [rowNamed(rows, calmRow), rowNamed(rows, handledRow), rowNamed(rows, plainRow)];
    return {
      rows,
      ratios: {
        handledToCalm: ratio(handled.medianMs, calm.medianMs),
        plainToCalm: ratio(plain.medianMs, calm.medianMs),
        extraRequests: ratio(handled.requests - calm.requests, calm.requests),
      },
    };
  },
};

function prefixOf(what: string, round: number): string {
  return `${what.replaceAll(/[^a-z0-9]+/g, '-').slice(0, 20)}-${round}`;
}

/** Fixed by round and number, so that a run can be had again: the finalizer of MurmurHash3 spreads them evenly. */
function lateness(round: number, late: number): Lateness {
  return (number) => {
    let bits = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(round + 1, 0x7feb352d);
    bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
    bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
    return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32 < late ? lateMs : 0;
  };
}

import { join } from 'node:path';
import { openAptly } from '../aptly.ts';
import { openBucket } from '../laboratory.ts';
import { startLine } from '../line.ts';
import { ratio, type Side } from '../measurement.ts';
import { sampleOf } from '../request-log.ts';
import { writeManyFilesDeb, writeSmallDeb, writeSmallDebs } from '../sample-debs.ts';
import { allIn, farMs, ourSide, prepareOurs, rowNamed, type Scenario } from '../scenario.ts';

const suite = 'bench';
const aptlyRow = 'aptly publish update';
const autoRow = 'ours, rename-concurrency auto';
/** stage, claim, rename, commit: each needs the answer of the one before. */
const roundTripsToCommit = 4;

/** The case of aptly-dev/aptly#1632: one package makes nearly all of a large Contents, and each update adds a tiny one. */
export const rename: Scenario = {
  about: `one tiny package into a suite whose Contents one package of 19,500 files dominates; the store ${farMs} ms away each way`,
  measure: async (bench) => {
    const { laboratory, size, compare } = bench;
    await using bucket = await openBucket();
    await using line = await startLine(bucket.endpoint, { delayMs: farMs });
    const initial = join(laboratory.folder, 'initial');
    await writeManyFilesDeb(initial, 'big', size(19_500, 1000));
    await writeSmallDebs(initial, 'small', 5);
    const next = (round: number) => writeSmallDeb(join(laboratory.folder, `round-${round}`), `next-${round}`);

    const aptly = await openAptly(laboratory, { name: 'rename', bucket, contents: true });
    await aptly.createRepository(suite);
    await aptly.add(suite, initial);
    await aptly.publish(suite);
    await aptly.reach(line.endpoint);
    const sides: Side[] = [
      {
        what: aptlyRow,
        run: async (round) => {
          await aptly.add(suite, await next(round));
          line.take();
          return sampleOf(await aptly.update(suite), line.take());
        },
      },
    ];
    const common = { suites: suite, architectures: 'amd64', contents: 'true' };
    for (const concurrency of ['1', '4', '16', 'auto']) {
      const prefix = `ours-${concurrency}`;
      await prepareOurs(bench, bucket, prefix, { ...common, packages: allIn(initial) });
      const inputs = (round: number) => ({
        ...common,
        'rename-concurrency': concurrency,
        packages: allIn(join(laboratory.folder, `round-${round}`)),
      });
      const ours = ourSide(bench, { what: `ours, rename-concurrency ${concurrency}`, bucket, prefix, line, inputs });
      sides.push({
        ...ours,
        run: async (round) => {
          await next(round);
          return ours.run(round);
        },
      });
    }
    const rows = await compare(sides);
    const [theirs, auto] = [rowNamed(rows, aptlyRow), rowNamed(rows, autoRow)];
    const window = (row: typeof auto, name: string) => row.windows?.[name]?.medianMs ?? Number.NaN;
    return {
      rows,
      ratios: {
        oursToAptly: ratio(auto.medianMs, theirs.medianMs),
        writeWindowToFloor: ratio(window(auto, 'first write to commit'), roundTripsToCommit * line.roundTripMs),
        writeWindowToAptly: ratio(window(auto, 'first write to commit'), window(theirs, 'first write to commit')),
        mixtureToAptly: ratio(window(auto, 'mixture'), window(theirs, 'mixture')),
      },
    };
  },
};

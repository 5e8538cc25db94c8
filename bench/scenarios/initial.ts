import { join } from 'node:path';
import { openAptly } from '../aptly.ts';
import { openBucket } from '../laboratory.ts';
import { startLine } from '../line.ts';
import { ratio } from '../measurement.ts';
import { inTurn, type Observed } from '../observed-process.ts';
import { runAction } from '../our-action.ts';
import { sampleOf, sampleOfSeveral } from '../request-log.ts';
import { writeSmallDebs } from '../sample-debs.ts';
import { allIn, farMs, rowNamed, type Scenario } from '../scenario.ts';

const suite = 'bench';
const batches = 20;
const aptlyRow = 'aptly repo add and publish';
const onceRow = 'ours, one initial transaction';
const batchesRow = `ours, ${batches} publishes`;

export const initial: Scenario = {
  about: `2,000 small packages into an empty store, ${farMs} ms away each way`,
  measure: async (bench) => {
    const { laboratory, size, compare } = bench;
    await using bucket = await openBucket();
    await using line = await startLine(bucket.endpoint, { delayMs: farMs });
    const count = size(2000, 40);
    const folders: string[] = [];
    for (let batch = 0; batch < batches; batch += 1) {
      const folder = join(laboratory.folder, `batch-${batch}`);
      await writeSmallDebs(folder, `small-${batch}`, count / batches, 4000);
      folders.push(folder);
    }
    const publish = (prefix: string, packages: readonly string[]) =>
      runAction(laboratory, {
        ...bucket.inputs(prefix, line.endpoint),
        suites: suite,
        architectures: 'amd64',
        contents: 'true',
        packages: packages.map(allIn).join('\n'),
      });

    const rows = await compare(
      [
        {
          what: aptlyRow,
          run: async (round) => {
            const aptly = await openAptly(laboratory, { name: `initial-${round}`, bucket, contents: true });
            await aptly.createRepository(suite);
            await aptly.reach(line.endpoint);
            line.take();
            const parts = [await aptly.add(suite, ...folders), await aptly.publish(suite)];
            return sampleOf(inTurn(parts), line.take());
          },
        },
        {
          what: onceRow,
          run: async (round) => {
            line.take();
            return sampleOf(await publish(`once-${round}`, folders), line.take());
          },
        },
        {
          what: batchesRow,
          run: async (round) => {
            line.take();
            const parts: Observed[] = [];
            for (const folder of folders) parts.push(await publish(`batches-${round}`, [folder]));
            return sampleOfSeveral(inTurn(parts), line.take());
          },
        },
      ],
      'slow',
    );
    const once = rowNamed(rows, onceRow).medianMs;
    return {
      rows,
      ratios: {
        oursToAptly: ratio(once, rowNamed(rows, aptlyRow).medianMs),
        onceToBatches: ratio(once, rowNamed(rows, batchesRow).medianMs),
      },
    };
  },
};

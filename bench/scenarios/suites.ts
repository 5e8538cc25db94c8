import { join } from 'node:path';
import { openAptly } from '../aptly.ts';
import { openBucket } from '../laboratory.ts';
import { startLine } from '../line.ts';
import { ratio } from '../measurement.ts';
import { inTurn, type Observed } from '../observed-process.ts';
import { sampleOfSeveral } from '../request-log.ts';
import { writeSmallDeb, writeSmallDebs } from '../sample-debs.ts';
import { allIn, farMs, ourSide, prepareOurs, rowNamed, type Scenario } from '../scenario.ts';

const names = ['bookworm', 'trixie', 'forky'];
const aptlyRow = 'aptly publish update, three times';
const oursRow = 'ours, once';

export const suites: Scenario = {
  about: `one new package into three suites of 68 packages each; the store ${farMs} ms away each way`,
  measure: async (bench) => {
    const { laboratory, size, compare } = bench;
    await using bucket = await openBucket();
    await using line = await startLine(bucket.endpoint, { delayMs: farMs });
    const initial = join(laboratory.folder, 'initial');
    await writeSmallDebs(initial, 'small', size(68, 5));
    const next = (round: number) => writeSmallDeb(join(laboratory.folder, `round-${round}`), `next-${round}`);

    const aptly = await openAptly(laboratory, { name: 'suites', bucket, contents: true });
    for (const name of names) {
      await aptly.createRepository(name);
      await aptly.add(name, initial);
      await aptly.publish(name);
    }
    await aptly.reach(line.endpoint);
    const common = { suites: names.join('\n'), architectures: 'amd64', contents: 'true' };
    await prepareOurs(bench, bucket, 'ours', { ...common, packages: allIn(initial) });
    const inputs = (round: number) => ({ ...common, packages: allIn(join(laboratory.folder, `round-${round}`)) });
    const ours = ourSide(bench, { what: oursRow, bucket, prefix: 'ours', line, inputs });
    const rows = await compare([
      {
        what: aptlyRow,
        run: async (round) => {
          const deb = await next(round);
          for (const name of names) await aptly.add(name, deb);
          line.take();
          const updates: Observed[] = [];
          for (const name of names) updates.push(await aptly.update(name));
          return sampleOfSeveral(inTurn(updates), line.take());
        },
      },
      {
        ...ours,
        run: async (round) => {
          await next(round);
          return ours.run(round);
        },
      },
    ]);
    const [theirs, own] = [rowNamed(rows, aptlyRow), rowNamed(rows, oursRow)];
    return {
      rows,
      ratios: {
        oursToAptly: ratio(own.medianMs, theirs.medianMs),
        oursToAptlyRequests: ratio(own.requests, theirs.requests),
      },
    };
  },
};

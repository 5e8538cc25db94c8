import { join } from 'node:path';
import { openAptly } from '../aptly.ts';
import { openBucket } from '../laboratory.ts';
import { startLine } from '../line.ts';
import { ratio, type Sample, type Side } from '../measurement.ts';
import type { Inputs } from '../our-action.ts';
import { runAction } from '../our-action.ts';
import { sampleOf, writes } from '../request-log.ts';
import { writeSmallDebs } from '../sample-debs.ts';
import { allIn, type Bench, type Findings, farMs, prepareOurs, rowNamed, type Scenario } from '../scenario.ts';

/** Runs on a suite that stays as it is. */

const suite = 'bench';
const aptlyRow = 'aptly publish update';
const oursRow = 'ours';
const packages = 68;

export const noop: Scenario = {
  about: `the packages that are published already, ${packages} of them; the store ${farMs} ms away each way`,
  measure: (bench) => measureStanding(bench, {}),
};

export const republish: Scenario = {
  about: `a suite of ${packages} packages signed again with a new date; the store ${farMs} ms away each way`,
  measure: (bench) => measureStanding(bench, { command: 'republish' }),
};

/** `command` alone makes the difference: `aptly publish update` does the same for both, since it always signs again. */
async function measureStanding(bench: Bench, command: Inputs): Promise<Findings> {
  const { laboratory, size, compare } = bench;
  await using bucket = await openBucket();
  await using line = await startLine(bucket.endpoint, { delayMs: farMs });
  const initial = join(laboratory.folder, 'initial');
  await writeSmallDebs(initial, 'small', size(packages, 5));

  const aptly = await openAptly(laboratory, { name: 'standing', bucket, contents: true });
  await aptly.createRepository(suite);
  await aptly.add(suite, initial);
  await aptly.publish(suite);
  await aptly.reach(line.endpoint);
  const published = { suites: suite, architectures: 'amd64', contents: 'true', packages: allIn(initial) };
  await prepareOurs(bench, bucket, 'ours', published);
  const again: Inputs = command['command'] === undefined ? published : { suites: suite, ...command };

  let ownWrites = 0;
  const ours: Side = {
    what: oursRow,
    run: async (): Promise<Sample> => {
      line.take();
      const run = await runAction(laboratory, { ...bucket.inputs('ours', line.endpoint), ...again });
      const requests = line.take();
      ownWrites = Math.max(ownWrites, writes(requests).length);
      return sampleOf(run, requests);
    },
  };
  const rows = await compare([
    {
      what: aptlyRow,
      run: async () => {
        line.take();
        return sampleOf(await aptly.update(suite), line.take());
      },
    },
    ours,
  ]);
  const [theirs, own] = [rowNamed(rows, aptlyRow), rowNamed(rows, oursRow)];
  return { rows, ratios: { oursToAptly: ratio(own.medianMs, theirs.medianMs), oursWrites: ownWrites } };
}

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLine } from '../line.ts';
import { type Row, ratio } from '../measurement.ts';
import { inTurn } from '../observed-process.ts';
import { runAction } from '../our-action.ts';
import { sampleOfSeveral } from '../request-log.ts';
import { writeSmallDebs } from '../sample-debs.ts';
import { allIn, onFreshBucket, rowNamed, type Scenario } from '../scenario.ts';

const suite = 'bench';
const publishers = 16;
const delayMs = 20;
const bytesPerSecond = 16 * 2 ** 20;
/** So that the slowest is not merely the one that the machine starts last. */
const apartMs = 250;
const settings = ['4', '16', '64', 'auto'];
const worst = 'worst publisher';
const rowOf = (setting: string) => `${publishers} publishers, upload-concurrency ${setting}`;

/** Each has a prefix and a suite of its own: they share nothing but the link. */
export const crowd: Scenario = {
  about: `${publishers} publishers of 64 packages of 384 KiB each, on one link of 16 MiB/s and ${delayMs} ms each way`,
  measure: async (bench) => {
    const { laboratory, size, compare } = bench;
    const folder = join(laboratory.folder, 'crowd');
    await writeSmallDebs(folder, 'medium', size(64, 4), 384 * 1024);

    const sides = settings.map((setting) =>
      onFreshBucket(rowOf(setting), async (bucket) => {
        await using line = await startLine(bucket.endpoint, { delayMs, bytesPerSecond });
        const publish = async (publisher: number) => {
          await sleep(publisher * apartMs);
          return runAction(laboratory, {
            ...bucket.inputs(`publisher-${publisher}`, line.endpoint),
            suites: suite,
            architectures: 'amd64',
            packages: allIn(folder),
            'upload-concurrency': setting,
            'rename-concurrency': setting,
          });
        };
        const from = performance.now();
        const runs = await Promise.all(Array.from({ length: publishers }, (_, publisher) => publish(publisher)));
        const ms = performance.now() - from;
        const windows = { [worst]: Math.max(...runs.map((run) => run.ms)) };
        return { ...sampleOfSeveral({ ...inTurn(runs), ms }, line.take()), windows };
      }),
    );
    const rows = await compare(sides);
    const of = (value: (row: Row) => number, which: (...values: number[]) => number) =>
      which(
        ...settings.filter((setting) => setting !== 'auto').map((setting) => value(rowNamed(rows, rowOf(setting)))),
      );
    const total = ({ medianMs }: Row) => medianMs;
    const slowest = ({ windows }: Row) => windows?.[worst]?.medianMs ?? Number.NaN;
    const auto = rowNamed(rows, rowOf('auto'));
    return {
      rows,
      ratios: {
        autoToBestFixed: ratio(total(auto), of(total, Math.min)),
        autoWorstPublisherToBestFixed: ratio(slowest(auto), of(slowest, Math.min)),
        autoWorstPublisherToWorstFixed: ratio(slowest(auto), of(slowest, Math.max)),
      },
    };
  },
};

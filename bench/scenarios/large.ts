import { join } from 'node:path';
import { ratio, type Side } from '../measurement.ts';
import { observe } from '../observed-process.ts';
import { runAction } from '../our-action.ts';
import { writeLargeDeb } from '../sample-debs.ts';
import { allIn, type Bench, onFreshBucket, rowNamed, type Scenario } from '../scenario.ts';

const suite = 'bench';
const oursRow = 'ours';
const uploading = 'upload';
const partSize = 8 * 2 ** 20;
const ceilingRow = (concurrency: number) => `the same client sending zeros, ${concurrency} in flight`;
const concurrencies = [4, 8, 16];

/**
 * Straight to a Ceph that keeps everything in memory. The ceiling is that of the best concurrency.
 */
export const large: Scenario = {
  about: 'one package of 1 GiB and twenty of 130 MiB into an empty store on the same machine',
  measure: async (bench) => {
    const mebibyte = 2 ** 20;
    const sizes = [
      bench.size(1024, 64) * mebibyte,
      ...Array.from({ length: bench.size(20, 2) }, () => bench.size(130, 20) * mebibyte),
    ];
    const folder = join(bench.laboratory.folder, 'large');
    for (const [index, size] of sizes.entries()) await writeLargeDeb(folder, `large-${index}`, size);
    const rows = await bench.compare([
      oursOver(bench, folder),
      ...concurrencies.map((concurrency) => ceilingAt(sizes, concurrency)),
    ]);
    const window = (what: string) => rowNamed(rows, what).windows?.[uploading]?.medianMs ?? Number.NaN;
    const ceiling = Math.min(...concurrencies.map((concurrency) => window(ceilingRow(concurrency))));
    return {
      rows,
      ratios: {
        uploadToCeiling: ratio(ceiling, window(oursRow)),
        wholeProcessToCeiling: ratio(ceiling, rowNamed(rows, oursRow).medianMs),
      },
    };
  },
};

function oursOver({ laboratory }: Bench, folder: string): Side {
  return onFreshBucket(oursRow, async (bucket) => {
    const { record, ...cost } = await runAction(laboratory, {
      ...bucket.inputs('ours', bucket.endpoint),
      suites: suite,
      architectures: 'amd64',
      packages: allIn(folder),
    });
    const phases = record.phases.filter(({ name }) => name === 'upload');
    const requests = record.spans.filter(({ kind }) => kind === 'request');
    const sum = (way: 'bytesUp' | 'bytesDown') =>
      requests.reduce((total, span) => total + (span.kind === 'request' ? span[way] : 0), 0);
    return {
      ...cost,
      requests: requests.length,
      bytesUp: sum('bytesUp'),
      bytesDown: sum('bytesDown'),
      windows: {
        [uploading]: Math.max(...phases.map(({ end }) => end)) - Math.min(...phases.map(({ start }) => start)),
      },
    };
  });
}

function ceilingAt(sizes: readonly number[], concurrency: number): Side {
  return onFreshBucket(ceilingRow(concurrency), async ({ name, endpoint, credentials }) => {
    const settings = { bucket: name, prefix: '', endpoint, forcePathStyle: true, credentials, version: 'bench' };
    const script = join(import.meta.dirname, '..', 'ceiling.ts');
    const cost = await observe(process.execPath, [script, JSON.stringify({ settings, sizes, concurrency })]);
    return {
      ...cost,
      // Of each file its parts, and what begins and ends it.
      requests: sizes.reduce((total, size) => total + Math.ceil(size / partSize) + 2, 0),
      bytesUp: sizes.reduce((total, size) => total + size, 0),
      bytesDown: 0,
      windows: { [uploading]: Number(cost.said) },
    };
  });
}

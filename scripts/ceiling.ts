/**
 * Measures what a store gives at most to this client on this machine, and how near a run came to it: a ladder of concurrency for small and for large
 * writes, through the very client that publishes. Takes about 40 seconds, at most 5000 requests and 2 GB below a prefix for scratch,
 * which is emptied afterwards. The keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
 *
 *     npm run ceiling -- --endpoint https://s3.example.org --bucket my-packages --prefix scratch
 *     npm run ceiling -- … --record run.json     what a run (its output `timings`) could still gain
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/action/system-clock.ts';
import { calibrate, calibrationText, efficiencyText } from '../src/perf/calibration.ts';
import { processorMs } from '../src/perf/machine.ts';
import { parseRunRecord } from '../src/timing/parse-record.ts';
import { bucketOptions, openBucket } from './bucket-options.ts';

const { values } = parseArgs({
  options: {
    ...bucketOptions,
    prefix: { type: 'string', default: 'apt-publish-ceiling' },
    record: { type: 'string' },
  },
});
const { endpoint, region, bucket, prefix, record } = values;
if (bucket === undefined) throw new Error('usage: npm run ceiling -- --bucket NAME [--endpoint URL] [--record FILE]');

const store = openBucket({ bucket, prefix, endpoint, region });
const loaded = { store, clock: systemClock, cpuMs: processorMs };
const calibration = await calibrate(loaded, systemClock.now().toString(36));
console.log(calibrationText(calibration));
if (record !== undefined)
  console.log(`\n${efficiencyText(parseRunRecord(await readFile(record, 'utf8')), calibration)}`);

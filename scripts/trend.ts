/**
 * Shows how long the last runs on a suite took, phase by phase, from the times that each of them has kept in the store. The keys come from
 * AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; they need to list and to read. Reads a dozen small objects a command.
 *
 *     npm run trend -- --endpoint https://s3.example.org --bucket my-packages --prefix debian --suite bookworm
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../src/action/system-clock.ts';
import { trendOf } from '../src/publish/timings.ts';
import { renderTrend } from '../src/report/trend.ts';
import { retried } from '../src/store/retried.ts';
import { bucketOptions, openBucket } from './bucket-options.ts';

const { values } = parseArgs({
  options: {
    ...bucketOptions,
    prefix: { type: 'string', default: '' },
    suite: { type: 'string', multiple: true },
  },
});
const { endpoint, region, bucket, prefix, suite: suites } = values;
if (bucket === undefined || suites === undefined)
  throw new Error(
    'usage: npm run trend -- --bucket NAME --suite NAME [--endpoint URL] [--region NAME] [--prefix PATH]',
  );

const store = openBucket({ bucket, prefix, endpoint, region });
for (const suite of suites)
  console.log(
    renderTrend(suite, await trendOf(retried(store, { clock: systemClock, random: Math.random }), suite)).trimEnd(),
  );

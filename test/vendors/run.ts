import { runSuite } from '../faults/suite-run.ts';

/** `npm run test:vendors`: the whole suite; with `-- --break NAME`, over sources that have that fault. */
process.exitCode = await runSuite('vendors', process.argv.slice(2));

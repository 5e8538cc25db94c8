import { runSuite } from '../faults/suite-run.ts';

/** `npm run test:crash`: the whole suite; with `-- --break NAME`, over sources that have that fault. */
process.exitCode = await runSuite('crash', process.argv.slice(2));

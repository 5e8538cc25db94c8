import { runSuite } from '../faults/suite-run.ts';

/** `npm run test:hostile`: the whole suite; with `-- --break NAME`, over sources that have that fault. */
process.exitCode = await runSuite('hostile', process.argv.slice(2));

import { runSuite } from '../faults/suite-run.ts';

/** `npm run test:race`: the whole suite; with `-- --break NAME`, over sources that have that fault. */
process.exitCode = await runSuite('race', process.argv.slice(2));

import { runSuite } from '../faults/suite-run.ts';

/** `npm run test:clients`: the whole suite; with `-- --break NAME`, over sources that have that fault. */
process.exitCode = await runSuite('clients', process.argv.slice(2));

import { registerHooks } from 'node:module';
import { addressOf, withFault } from './seeded-fault.ts';
import { seededFaults } from './seeded-faults.ts';

/**
 * Loaded before the tests with `--import`, and `?NAME` behind its address: from then on this process, and every worker of it, loads the
 * sources with that fault in them. Nothing is written anywhere.
 */
const name = new URL(import.meta.url).search.slice(1);
const fault = seededFaults.find((each) => each.name === name);
if (fault === undefined) throw new Error(`There is no fault ${name}.`);
const addresses = new Set(fault.edits.map(addressOf));

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    if (!addresses.has(url) || loaded.source == null) return loaded;
    const source = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
    return { ...loaded, source: withFault(fault, url, source) };
  },
});

// The test runner's own way to end lets tests that are under way end first, and some of these do not under a fault.
process.once('SIGTERM', () => process.exit(143));

import { availableParallelism } from 'node:os';
import { WorkerPool } from './worker-pool.ts';

const most = 4;
/** Long enough to bridge the phases of a run. */
const idleMs = 5000;

/** The threads of this process, for all that compresses, decompresses and hashes. */
export const workers = new WorkerPool(Math.min(most, availableParallelism()), idleMs);

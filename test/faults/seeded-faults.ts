import { intakeFaults } from './intake-faults.ts';
import type { SeededFault } from './seeded-fault.ts';
import { storeFaults } from './store-faults.ts';
import { transactionFaults } from './transaction-faults.ts';

export const seededFaults: readonly SeededFault[] = [...transactionFaults, ...storeFaults, ...intakeFaults];

import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../timing/clock.ts';
import { TransientStoreError } from './object-store.ts';

/** How long a lock is waited for. It is held for the time of one small write, so this is a machine that hangs. */
const patienceMs = 30_000;
const firstWaitMs = 1;
const longestWaitMs = 20;

/**
 * Runs `work` while no other process or caller on this machine runs work under the same lock file, and lets go when it ends.
 *
 * The lock is the kernel's: Node has no call for fcntl(2) record locks, but its SQLite takes one on the file it opens (`BEGIN
 * EXCLUSIVE` on an empty database; nothing is ever written to it). A kernel's lock goes with its process, however that ends, so
 * there is no stale lock to detect and none to be wrong about, and it holds between containers that share the folder. The file
 * stays, since removing it would split the lock in two: those who hold the old file and those who make a new one.
 *
 * Throws a `TransientStoreError` when the lock is not to be had for 30 seconds.
 */
export async function exclusively<T>(lockFile: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  const lock = new DatabaseSync(lockFile);
  try {
    await acquire(lock, clock);
    return await work();
  } finally {
    lock.close();
  }
}

async function acquire(lock: DatabaseSync, clock: Clock): Promise<void> {
  const deadline = clock.monotonic() + patienceMs;
  for (let wait = firstWaitMs; !tryAcquire(lock); wait = Math.min(wait * 2, longestWaitMs)) {
    if (clock.monotonic() > deadline) {
      throw new TransientStoreError({
        kind: 'timeout',
        ambiguous: false,
        message: `Another process has held the lock of the directory for more than ${patienceMs / 1000} seconds.`,
      });
    }
    await clock.sleep(wait);
  }
}

function tryAcquire(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return false;
    throw error;
  }
}

/** SQLITE_BUSY, sqlite3.h. */
const busy = 5;

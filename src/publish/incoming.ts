import type { PublishRequest } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import { scanAll } from './scan.ts';
import { oncePerPackage } from './scan-batch.ts';
import type { Scanned } from './scanned.ts';
import type { Incoming } from './shape.ts';
import { together } from './wave.ts';

/**
 * What comes into a suite. With `contents` the file lists of the packages too, which takes unpacking them: a suite that has Contents
 * needs them even when this run did not ask for Contents.
 */
export type IncomingPackages = (suite: string, contents: boolean) => Promise<readonly Incoming[]>;

/** Files open at a time: enough to keep hashing busy, few enough for the smallest runner. */
const openFiles = 4;

/** The phase scan, started when the first suite asks: every input is read once, however many suites it goes to. */
export function incomingOf(run: RunContext, request: PublishRequest): IncomingPackages {
  const scans = new Map<boolean, Promise<Map<string, Scanned[]>>>();
  return async (suite, contents) => {
    const scan = scans.get(contents) ?? scanUploads(run, request, contents);
    scans.set(contents, scan);
    const scanned = await scan;
    const uploads = request.suites.find((each) => each.suite === suite)?.uploads ?? [];
    return uploads.map(({ component, paths }) => ({ component, packages: scanned.get(keyOf(paths)) ?? [] }));
  };
}

/** Uploads that name the same files, as the same packages for several suites do, are one batch. */
async function scanUploads(
  run: RunContext,
  request: PublishRequest,
  contents: boolean,
): Promise<Map<string, Scanned[]>> {
  const batches = new Map(request.suites.flatMap(({ uploads }) => uploads).map(({ paths }) => [keyOf(paths), paths]));
  return phase(run, 'scan', undefined, async ({ scope }) => {
    const concurrency = Math.max(1, Math.floor(openFiles / batches.size));
    const scans = [...batches.values()].map((paths) => scanAll(paths, { contents, scope, concurrency }));
    const scanned = await together(...scans);
    // All suites share one pool, so what contradicts itself between two of them is refused like within one.
    oncePerPackage(scanned.flat());
    return new Map([...batches.keys()].map((key, index) => [key, scanned[index] ?? []]));
  });
}

function keyOf(paths: readonly string[]): string {
  return paths.join('\n');
}

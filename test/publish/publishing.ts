import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PublishRequest, SuiteRequest } from '../../src/publish/request.ts';
import type { RunContext } from '../../src/publish/run-context.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { limiter } from '../../src/store/limited.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import type { Clock } from '../../src/timing/clock.ts';
import { Recorder } from '../../src/timing/recorder.ts';
import { buildDeb, type DebRecipe } from '../debs.ts';

/** The moment at which test runs publish, unless they say otherwise: the fixture keys are valid then. */
export const publishedAt = Date.UTC(2026, 0, 1);

/** A run for tests, with everything that is not a function of its inputs in the open. */
export interface TestRun extends RunContext {
  readonly warnings: string[];
}

let runs = 0;

export function testRun(
  store: ObjectStore,
  clock: Clock,
  more: { keys?: SigningKeys; date?: number; concurrency?: number; claimLimit?: number } = {},
): TestRun {
  const warnings: string[] = [];
  runs += 1;
  return {
    store,
    clock,
    random: () => 0.5,
    recorder: new Recorder(clock),
    ...(more.keys === undefined ? {} : { keys: more.keys }),
    run: `test-run-${runs}`,
    date: more.date ?? clock.now(),
    requests: limiter(more.concurrency ?? 16),
    renames: limiter(more.concurrency ?? 16),
    claimLimit: more.claimLimit ?? 60_000,
    warn: (sentence) => warnings.push(sentence),
    warnings,
  };
}

export function publishRequest(suites: readonly SuiteRequest[], more: Partial<PublishRequest> = {}): PublishRequest {
  return {
    suites,
    release: { origin: 'Example', label: 'Example' },
    allowReleaseInfoChange: false,
    adopt: false,
    compression: ['gz'],
    contents: false,
    onConflict: 'error',
    renameConcurrency: 'auto',
    uploadConcurrency: 'auto',
    requireConditionalWrites: false,
    dryRun: false,
    ...more,
  };
}

/** A folder of .debs that goes away with the block it is used in. */
export class Debs implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'apt-publish-debs-'));

  /** Writes a .deb and gives back its path. */
  add(name: string, fields: DebRecipe['fields'] = {}, files: DebRecipe['files'] = {}): string {
    const path = join(this.folder, `${name}.deb`);
    writeFileSync(path, buildDeb({ fields, files }));
    return path;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One suite with these files in `main`. */
export function suiteOf(suite: string, ...paths: string[]): SuiteRequest {
  return { suite, uploads: [{ component: 'main', paths: paths.toSorted() }] };
}

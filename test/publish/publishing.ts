import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChangeSettings, PublishRequest, SuiteRequest } from '../../src/publish/request.ts';
import type { RunContext } from '../../src/publish/run-context.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { limiter } from '../../src/store/limited.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import type { Clock } from '../../src/timing/clock.ts';
import { Recorder } from '../../src/timing/recorder.ts';
import { buildDeb, buildDsc, type DebRecipe } from '../debs.ts';

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
  more: { keys?: SigningKeys; date?: number; concurrency?: number; claimLimit?: number; by?: string } = {},
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
    ...(more.by === undefined ? {} : { by: more.by }),
    date: more.date ?? clock.now(),
    requests: limiter(more.concurrency ?? 16),
    renames: limiter(more.concurrency ?? 16),
    claimLimit: more.claimLimit ?? 60_000,
    warn: (sentence) => warnings.push(sentence),
    warnings,
  };
}

/** What tests say to every command that makes a generation, unless they are about it. */
export const changeSettings: Omit<ChangeSettings, 'suites'> = {
  release: { origin: 'Example', label: 'Example' },
  allowReleaseInfoChange: false,
  compression: ['gz'],
  renameConcurrency: 'auto',
  uploadConcurrency: 'auto',
  requireConditionalWrites: false,
  dryRun: false,
};

export function publishRequest(suites: readonly SuiteRequest[], more: Partial<PublishRequest> = {}): PublishRequest {
  return {
    command: 'publish',
    suites,
    ...changeSettings,
    adopt: false,
    contents: false,
    onConflict: 'error',
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

  /** Writes a source package of two files and gives back the path of its .dsc. */
  addSource(name: string, version: string): string {
    const tarball = `${name}_${version}.orig.tar.gz`;
    const bytes = Buffer.from(`upstream ${name} ${version}`);
    const path = join(this.folder, `${name}_${version}-1.dsc`);
    writeFileSync(join(this.folder, tarball), bytes);
    writeFileSync(path, buildDsc({ [tarball]: bytes }, { Source: name, Binary: name, Version: `${version}-1` }));
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

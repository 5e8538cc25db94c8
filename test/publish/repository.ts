import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { perform } from '../../src/publish/commands.ts';
import { parseGenerationName } from '../../src/publish/generation-name.ts';
import type { SuiteResult } from '../../src/publish/outcome.ts';
import { type PackagePattern, parsePattern, type Selection } from '../../src/publish/package-pattern.ts';
import type { CommandRequest, PromoteRequest, PublishRequest, SuiteRequest } from '../../src/publish/request.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { listed } from '../../src/store/object-store.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { TestClock } from '../store/clocks.ts';
import { changeSettings, Debs, publishRequest, testRun } from './publishing.ts';

const keys = await fixture('ed25519');

/** A repository in memory that several runs publish into, one after the other, a minute apart. */
export class Repository implements Disposable {
  readonly clock = new TestClock();
  readonly store: MemoryStore;
  readonly debs = new Debs();

  constructor(conditions?: 'enforced' | 'create-only' | 'ignored' | 'refused') {
    this.store = new MemoryStore({ clock: this.clock, ...(conditions === undefined ? {} : { conditions }) });
  }

  publish(
    suites: readonly SuiteRequest[],
    more: Partial<PublishRequest> = {},
    signing: SigningKeys | 'unsigned' = keys,
  ) {
    return this.perform(publishRequest(suites, more), signing);
  }

  /** `by`: whom the history names. */
  async perform(request: CommandRequest, signing: SigningKeys | 'unsigned' = keys, by?: string) {
    await this.clock.sleep(60_000);
    const signed = signing === 'unsigned' ? {} : { keys: signing };
    const run = testRun(this.store, this.clock, { ...signed, ...(by === undefined ? {} : { by }) });
    const results = await perform(run, request);
    const requests = run.recorder.spans.filter((span) => span.kind === 'request');
    return { results, requests, warnings: run.warnings, recorder: run.recorder };
  }

  remove(
    suite: string,
    patterns: readonly string[],
    more: Partial<Selection> = {},
    signing: SigningKeys | 'unsigned' = keys,
  ) {
    const selection = { patterns: patterns.map(pattern), ...more };
    return this.perform({ command: 'remove', suites: [{ suite }], ...changeSettings, selection }, signing);
  }

  promote(from: string, suite: string, patterns: readonly string[] = ['*'], more: Partial<PromoteRequest> = {}) {
    const selection = { patterns: patterns.map(pattern) };
    const suites = [{ suite }];
    const request: PromoteRequest = {
      command: 'promote',
      suites,
      ...changeSettings,
      from,
      selection,
      moves: [],
      onConflict: 'error',
    };
    return this.perform({ ...request, ...more });
  }

  rollback(suite: string, to: string, signing: SigningKeys | 'unsigned' = keys) {
    const name = parseGenerationName(to);
    assert.ok(name !== undefined, to);
    return this.perform({ command: 'rollback', suites: [{ suite }], ...changeSettings, to: name }, signing);
  }

  /** Every object, for `RepositoryCheck`. */
  async snapshot(): Promise<ReadonlyMap<string, Uint8Array>> {
    const objects = new Map<string, Uint8Array>();
    for (const key of await this.keys()) {
      const object = await this.store.get(key);
      if (object.found) objects.set(key, object.body);
    }
    return objects;
  }

  async text(key: string): Promise<string> {
    const object = await this.store.get(key);
    assert.ok(object.found, `${key} does not exist`);
    return Buffer.from(key.endsWith('.gz') ? gunzipSync(object.body) : object.body).toString();
  }

  /** `name version` of each stanza of a list. */
  async packages(list: string): Promise<string[]> {
    const text = await this.text(list);
    return [...text.matchAll(/^Package: (.*)\n(?:.+\n)*?Version: (.*)$/gm)].map(
      ([, name, version]) => `${name} ${version}`,
    );
  }

  async keys(prefix = ''): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of listed(this.store, prefix)) keys.push(key);
    return keys.sort();
  }

  [Symbol.dispose](): void {
    this.debs[Symbol.dispose]();
  }
}

function pattern(text: string): PackagePattern {
  const read = parsePattern(text);
  assert.ok(read !== undefined, text);
  return read;
}

/** `added hello 1.0 amd64` of each package that a run has changed. */
export function changesOf({ results }: { readonly results: readonly SuiteResult[] }): string[] {
  return results
    .flatMap(({ outcome }) => outcome.packages)
    .map((item) => `${item.change} ${item.package} ${item.version} ${item.architecture}`);
}

import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { publish } from '../../src/publish/publish.ts';
import type { PublishRequest, SuiteRequest } from '../../src/publish/request.ts';
import type { SigningKeys } from '../../src/signing/keys.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import { listed } from '../../src/store/object-store.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { TestClock } from '../store/clocks.ts';
import { Debs, publishRequest, testRun } from './publishing.ts';

const keys = await fixture('ed25519');

/** A repository in memory that several runs publish into, one after the other, a minute apart. */
export class Repository implements Disposable {
  readonly clock = new TestClock();
  readonly store: MemoryStore;
  readonly debs = new Debs();

  constructor(conditions?: 'enforced' | 'create-only' | 'ignored' | 'refused') {
    this.store = new MemoryStore({ clock: this.clock, ...(conditions === undefined ? {} : { conditions }) });
  }

  async publish(
    suites: readonly SuiteRequest[],
    more: Partial<PublishRequest> = {},
    signing: SigningKeys | 'unsigned' = keys,
  ) {
    await this.clock.sleep(60_000);
    const run = testRun(this.store, this.clock, signing === 'unsigned' ? {} : { keys: signing });
    const results = await publish(run, publishRequest(suites, more));
    const requests = run.recorder.spans.filter((span) => span.kind === 'request');
    return { results, requests, warnings: run.warnings, recorder: run.recorder };
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

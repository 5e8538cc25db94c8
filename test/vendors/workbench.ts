import assert from 'node:assert/strict';
import type { Problem } from '../../src/problem.ts';
import { publish } from '../../src/publish/publish.ts';
import type { PublishRequest, SuiteRequest } from '../../src/publish/request.ts';
import { S3Store } from '../../src/store/s3.ts';
import type { S3Settings } from '../../src/store/s3-connection.ts';
import type { Clock } from '../../src/timing/clock.ts';
import { Debs, publishRequest, type TestRun, testRun } from '../publish/publishing.ts';
import type { Bucket } from '../rig/s3-bucket.ts';
import { rigCredentials, type S3Server, type S3ServerOptions, startS3Server } from '../rig/s3-server.ts';
import { fixture } from '../signing/fixture-keys.ts';

export const keys = await fixture('ed25519');

/** A second publisher: the server's record tells by the access key who sent a request. */
export const otherCredentials = { accessKeyId: 'OTHERACCESSKEY', secretAccessKey: 'other/secret+key' } as const;

type RunOptions = Partial<PublishRequest> & {
  readonly store?: Partial<S3Settings>;
  /** In the place of the workbench's own. */
  readonly clock?: Clock;
  /** How waits are spread; all alike when absent. */
  readonly random?: () => number;
  readonly run?: Parameters<typeof testRun>[2];
};

/** An S3 server, packages, a clock, and publishers that use the real store and the real transaction. */
export class Workbench implements AsyncDisposable {
  readonly server: S3Server;
  readonly clock: Clock;
  readonly debs = new Debs();
  readonly #stores: S3Store[] = [];

  private constructor(server: S3Server, clock: Clock) {
    this.server = server;
    this.clock = clock;
  }

  static async open(clock: Clock, options: S3ServerOptions = {}): Promise<Workbench> {
    return new Workbench(await startS3Server({ credentials: [rigCredentials, otherCredentials], ...options }), clock);
  }

  get bucket(): Bucket {
    return this.server.objects('apt');
  }

  store(settings: Partial<S3Settings> = {}): S3Store {
    const store = new S3Store({
      bucket: 'apt',
      prefix: '',
      endpoint: this.server.endpoint,
      forcePathStyle: true,
      credentials: rigCredentials,
      version: 'test',
      ...settings,
    });
    this.#stores.push(store);
    return store;
  }

  /** One run. Its warnings and its account are there even when it fails. */
  run(suites: readonly SuiteRequest[], { store, clock, random, run, ...more }: RunOptions = {}) {
    const made = testRun(this.store(store), clock ?? this.clock, { keys, ...run });
    const context: TestRun = random === undefined ? made : { ...made, random };
    const first = this.server.requests.length;
    return {
      context,
      results: publish(context, publishRequest(suites, more)),
      /** What the server has been asked since this run began, by whomever. */
      requests: () => this.server.requests.slice(first),
    };
  }

  /** One run that succeeds. */
  async publish(suites: readonly SuiteRequest[], options: RunOptions = {}) {
    const { context, results, requests } = this.run(suites, options);
    return { results: await results, warnings: context.warnings, requests: requests() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#stores) store.close();
    this.debs[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** The problem that a run stops with; any other error fails the test, since a user would be told of a defect. */
export async function problemOf(run: Promise<unknown>): Promise<Problem> {
  const error: unknown = await run.then(
    () => assert.fail('the run succeeded'),
    (caught: unknown) => caught,
  );
  assert.ok(isProblem(error), `a user would be shown: ${error instanceof Error ? error.stack : String(error)}`);
  return error;
}

export function isProblem(error: unknown): error is Problem {
  return error instanceof Error && error.name === 'Problem' && 'advice' in error;
}

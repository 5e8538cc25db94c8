import { Problem, Problems } from '../../src/problem.ts';
import { DryRunProblems } from '../../src/publish/carry-out.ts';
import type { SuiteResult } from '../../src/publish/outcome.ts';
import { publish } from '../../src/publish/publish.ts';
import type { PublishRequest, SuiteRequest } from '../../src/publish/request.ts';
import { HttpStore } from '../../src/store/http.ts';
import { limiter } from '../../src/store/limited.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import type { ObjectStore } from '../../src/store/object-store.ts';
import { S3Store } from '../../src/store/s3.ts';
import { makeRunRecord, type RunRecord, type StoreFacts } from '../../src/timing/record.ts';
import { type PhaseScope, Recorder } from '../../src/timing/recorder.ts';
import type { PhaseName } from '../../src/timing/span.ts';
import { Debs, publishRequest, testRun } from '../publish/publishing.ts';
import { type LatencyProxy, startLatencyProxy } from '../rig/latency-proxy.ts';
import { rigCredentials, type S3Server, startS3Server } from '../rig/s3-server.ts';
import { fixture } from '../signing/fixture-keys.ts';
import { realClock } from '../store/clocks.ts';

/** What a run does differently from an ordinary one. */
export interface Circumstances {
  readonly request?: Partial<PublishRequest>;
  readonly renameConcurrency?: number;
  /** The phase that fails when its work is done. */
  readonly failIn?: PhaseName;
  /** Without keys, by what everybody can read of the store. */
  readonly through?: ObjectStore;
}

/** A repository that runs publish into, one after the other, in real time. */
export class Repository {
  readonly debs = new Debs();
  readonly #store: ObjectStore;
  readonly #kind: StoreFacts['kind'];

  constructor(store: ObjectStore, kind: StoreFacts['kind']) {
    this.#store = store;
    this.#kind = kind;
  }

  /** Publishes, well or not, and gives back the record of the run. */
  async publish(suites: readonly SuiteRequest[], given: Circumstances = {}): Promise<RunRecord> {
    const { renameConcurrency = 16, failIn, through } = given;
    const recorder = failIn === undefined ? new Recorder(realClock) : new FailingRecorder(failIn);
    const plain = testRun(
      through ?? this.#store,
      realClock,
      through === undefined ? { keys: await fixture('ed25519') } : {},
    );
    const own = { recorder, renames: limiter(renameConcurrency), keepTimings: true } as const;
    const run = { ...plain, ...own, ...(through === undefined ? {} : { outside: true as const }) };
    const request = publishRequest(suites, { compression: ['gz', 'xz'], contents: true, ...given.request });
    const started = realClock.now();
    const ending = await publish(run, request).then(
      (results: readonly SuiteResult[]) => ({ results, problems: [] }),
      (error: unknown) => ({
        results: error instanceof DryRunProblems ? error.results : [],
        problems: told(error),
      }),
    );
    const { results, problems } = ending;
    const failed = problems.length > 0 && results.length === 0;
    const changed = results.some(({ outcome }) => outcome.changed);
    return makeRunRecord({
      started,
      durationMs: recorder.now(),
      outcome: failed ? 'failed' : request.dryRun ? 'dry-run' : changed ? 'published' : 'unchanged',
      store: { kind: this.#kind, conditions: results.find(({ conditions }) => conditions)?.conditions ?? 'unknown' },
      suites: results.map(({ outcome }) => outcome),
      phases: recorder.phases,
      spans: recorder.spans,
      warnings: plain.warnings,
      problems,
    });
  }
}

function told(error: unknown): readonly Problem[] {
  if (error instanceof Problem) return [error];
  if (error instanceof Problems) return error.all;
  throw error;
}

class FailingRecorder extends Recorder {
  readonly #failIn: PhaseName;

  constructor(failIn: PhaseName) {
    super(realClock);
    this.#failIn = failIn;
  }

  override phase<T>(name: PhaseName, suite: string | undefined, work: (scope: PhaseScope) => Promise<T>): Promise<T> {
    return super.phase(name, suite, async (scope) => {
      const result = await work(scope);
      if (name !== this.#failIn) return result;
      throw new Problem({
        code: 'store-access-denied',
        title: 'The store denies access',
        what: `The store refused a request of the phase ${name}: AccessDenied.`,
        advice: 'Give the key the permissions that README.md lists, then run the job again.',
      });
    });
  }
}

/** A repository in an S3 server on this machine, with a distance in between. */
export class RemoteRepository extends Repository implements AsyncDisposable {
  readonly server: S3Server;
  readonly #proxy: LatencyProxy;
  readonly #client: S3Store;

  private constructor(server: S3Server, proxy: LatencyProxy, client: S3Store) {
    super(client, 's3');
    this.server = server;
    this.#proxy = proxy;
    this.#client = client;
  }

  static async at(roundTripMs: number): Promise<RemoteRepository> {
    const server = await startS3Server();
    const proxy = await startLatencyProxy({ to: server.endpoint, delayMs: roundTripMs / 2, handshake: true });
    const client = new S3Store({
      bucket: 'apt',
      prefix: 'debian',
      endpoint: proxy.endpoint,
      forcePathStyle: true,
      credentials: rigCredentials,
      version: '1.0.0',
    });
    return new RemoteRepository(server, proxy, client);
  }

  /** The repository as everybody can read it, across the same distance. */
  publicly(): ObjectStore {
    const { pathname } = new URL(this.server.publicUrl('apt', 'debian'));
    const url = `${this.#proxy.endpoint}${pathname}`;
    return new HttpStore({ url, input: 'public-url', hidden: '.apt-publish/', version: '1.0.0' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.debs[Symbol.dispose]();
    this.#client.close();
    await this.#proxy[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** A repository in memory, for what would take too long over a wire. */
export class LocalRepository extends Repository implements Disposable {
  constructor() {
    super(new MemoryStore({ clock: realClock }), 'memory');
  }

  [Symbol.dispose](): void {
    this.debs[Symbol.dispose]();
  }
}

import { Problem, Problems } from '../../src/problem.ts';
import type { SuiteResult } from '../../src/publish/outcome.ts';
import { publish } from '../../src/publish/publish.ts';
import type { PublishRequest, SuiteRequest } from '../../src/publish/request.ts';
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
    const { renameConcurrency = 16, failIn } = given;
    const recorder = failIn === undefined ? new Recorder(realClock) : new FailingRecorder(failIn);
    const plain = testRun(this.#store, realClock, { keys: await fixture('ed25519') });
    const run = { ...plain, recorder, renames: limiter(renameConcurrency) };
    const request = publishRequest(suites, { compression: ['gz', 'xz'], contents: true, ...given.request });
    const started = realClock.now();
    const ending = await publish(run, request).then(
      (results: readonly SuiteResult[]) => ({ results, problem: undefined }),
      (error: unknown) => ({ results: [], problem: told(error) }),
    );
    const { results, problem } = ending;
    const changed = results.some(({ outcome }) => outcome.changed);
    return makeRunRecord({
      started,
      durationMs: recorder.now(),
      outcome: problem !== undefined ? 'failed' : request.dryRun ? 'dry-run' : changed ? 'published' : 'unchanged',
      store: { kind: this.#kind, conditions: results.find(({ conditions }) => conditions)?.conditions ?? 'unknown' },
      suites: results.map(({ outcome }) => outcome),
      phases: recorder.phases,
      spans: recorder.spans,
      warnings: plain.warnings,
      ...(problem === undefined ? {} : { problem }),
    });
  }
}

function told(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const [first] = error instanceof Problems ? error.all : [];
  if (first === undefined) throw error;
  return first;
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

import type { RunRecord } from '../../src/timing/record.ts';
import { type PhaseName, phaseNames } from '../../src/timing/span.ts';
import { type Debs, suiteOf } from '../publish/publishing.ts';
import { LocalRepository, RemoteRepository } from './remote-repository.ts';

/** A run worth looking at. */
export interface Scene {
  /** Names its files. */
  readonly name: string;
  readonly record: RunRecord;
}

const roundTrip = 20;

const sources: Readonly<Record<string, () => AsyncGenerator<Scene>>> = {
  life,
  'nine-renames': nineRenames,
  'bad-day': badDay,
  'many-suites': manySuites,
  'dry-run': dryRuns,
  fork: forks,
  failure: failures,
  'ten-thousand': tenThousand,
};

/** Runs of every shape that a user meets, each of them really run; `names` picks some of the groups, none means all. */
export async function* scenes(names: readonly string[]): AsyncGenerator<Scene> {
  const unknown = names.find((name) => !(name in sources));
  if (unknown !== undefined) throw new Error(`No scene ${unknown}; there are ${Object.keys(sources).join(', ')}.`);
  for (const [name, source] of Object.entries(sources)) {
    if (names.length === 0 || names.includes(name)) yield* source();
  }
}

/** Files that are as many as the largest packages have. */
function manyFiles(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`usr/share/icons/set/${index % 97}/icon-${index}.svg`, '']),
  );
}

function addPair(debs: Debs, name: string, version: string): string[] {
  return ['amd64', 'arm64'].map((architecture) =>
    debs.add(
      `${name}_${version}_${architecture}`,
      { Package: name, Version: version, Architecture: architecture, Description: `the ${name} of the gallery` },
      { [`usr/bin/${name}`]: name.repeat(5000) },
    ),
  );
}

async function* life(): AsyncGenerator<Scene> {
  await using repository = await RemoteRepository.at(roundTrip);
  const { debs } = repository;
  const first = ['hello', 'greetings', 'libsalute1'].flatMap((name) => addPair(debs, name, '1.0-1'));
  const both = (...paths: string[]) => [suiteOf('bookworm', ...paths), suiteOf('trixie', ...paths)];
  yield { name: 'first-publish', record: await repository.publish(both(...first)) };
  const icons = debs.add('icons', { Package: 'icons', Version: '2~rc1', Architecture: 'all' }, manyFiles(19_500));
  const update = [...addPair(debs, 'hello', '1.1-1'), icons];
  yield { name: 'update', record: await repository.publish(both(...update)) };
  yield { name: 'no-change', record: await repository.publish(both(...update)) };
}

/** Three architectures, each with Contents and a list in two forms: the nine index files of one suite. */
async function* nineRenames(): AsyncGenerator<Scene> {
  for (const renameConcurrency of [1, 16]) {
    await using repository = await RemoteRepository.at(100);
    const architectures = ['amd64', 'arm64', 'armhf'];
    const version = (number: string) =>
      architectures.map((architecture) =>
        repository.debs.add(
          `${number}-${architecture}`,
          { Version: number, Architecture: architecture },
          { [`usr/share/hello/${number}`]: 'a path that this version alone has' },
        ),
      );
    await repository.publish([suiteOf('bookworm', ...version('1.0'))]);
    const record = await repository.publish([suiteOf('bookworm', ...version('1.1'))], { renameConcurrency });
    yield { name: `nine-renames-${renameConcurrency}-at-a-time`, record };
  }
}

/** One rename that takes half a second, and some answers that are no answers. */
async function* badDay(): AsyncGenerator<Scene> {
  await using repository = await RemoteRepository.at(roundTrip);
  const names = Array.from({ length: 28 }, (_, index) => `package-${index}`);
  await repository.publish([suiteOf('bookworm', ...names.flatMap((name) => addPair(repository.debs, name, '1')))]);
  let copies = 0;
  let puts = 0;
  using _ = repository.server.intercept(({ verb, key }) => {
    if (verb === 'COPY' && ++copies === 2) return { do: 'delay', ms: 480 };
    if (verb !== 'PUT' || !key.includes('/pool/') || ++puts % 9 !== 0) return undefined;
    return { do: 'answer', when: 'before', status: 503, code: 'SlowDown' };
  });
  const next = names.flatMap((name) => addPair(repository.debs, name, '2'));
  yield { name: 'bad-day', record: await repository.publish([suiteOf('bookworm', ...next)]) };
}

async function* manySuites(): AsyncGenerator<Scene> {
  await using repository = await RemoteRepository.at(roundTrip);
  const suites = Array.from({ length: 12 }, (_, index) => `release-${index + 1}/updates`);
  const pair = addPair(repository.debs, 'hello', '1.0');
  yield { name: 'many-suites', record: await repository.publish(suites.map((suite) => suiteOf(suite, ...pair))) };
}

async function* dryRuns(): AsyncGenerator<Scene> {
  await using repository = await RemoteRepository.at(roundTrip);
  const { debs } = repository;
  await repository.publish([suiteOf('bookworm', ...addPair(debs, 'hello', '1.0'))]);
  const other = debs.add('other', { Package: 'hello', Version: '1.0', 'X-Note': 'other bytes of the same name' });
  const fresh = addPair(debs, 'greetings', '3.0');
  for (const onConflict of ['skip', 'error'] as const) {
    const record = await repository.publish([suiteOf('bookworm', other, ...fresh)], {
      request: { dryRun: true, onConflict },
    });
    yield { name: `dry-run-conflict-${onConflict}`, record };
  }
}

/** A pull request of somebody who has no keys: what it would publish, and what stands against it. */
async function* forks(): AsyncGenerator<Scene> {
  await using repository = await RemoteRepository.at(roundTrip);
  const { debs } = repository;
  const published = [...addPair(debs, 'hello', '1.0'), ...addPair(debs, 'greetings', '3.0')];
  await repository.publish([suiteOf('bookworm', ...published)]);
  const through = repository.publicly();
  const fresh = addPair(debs, 'hello', '1.1');
  const request = { dryRun: true } as const;
  const record = await repository.publish([suiteOf('bookworm', ...fresh)], { through, request });
  yield { name: 'fork-without-keys', record };
  const clashing = ['hello', 'greetings'].map((name) =>
    debs.add(`other-${name}`, { Package: name, Version: name === 'hello' ? '1.0' : '3.0', Description: 'other bytes' }),
  );
  const suites = [suiteOf('bookworm', ...fresh, ...clashing)];
  yield { name: 'fork-with-conflicts', record: await repository.publish(suites, { through, request }) };
}

async function* failures(): AsyncGenerator<Scene> {
  for (const phase of phaseNames) if (phase !== 'wait') yield failure(phase);
}

async function failure(phase: PhaseName): Promise<Scene> {
  await using repository = await RemoteRepository.at(roundTrip);
  const pair = addPair(repository.debs, 'hello', '1.0');
  if (phase !== 'probe') await repository.publish([suiteOf('bookworm', ...pair)]);
  const next = [suiteOf('bookworm', ...pair, ...addPair(repository.debs, 'hello', '2.0'))];
  return { name: `failure-in-${phase}`, record: await repository.publish(next, { failIn: phase }) };
}

async function* tenThousand(): AsyncGenerator<Scene> {
  using repository = new LocalRepository();
  const paths = Array.from({ length: 10_000 }, (_, index) => {
    const name = `package-${String(index).padStart(5, '0')}`;
    return repository.debs.add(name, { Package: name, Version: `1:${index}.0-1~deb12u1` });
  });
  yield { name: 'ten-thousand-packages', record: await repository.publish([suiteOf('bookworm', ...paths)]) };
}

import { link, mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { temporaryFolder } from '../rig/temporary.ts';
import { keyText } from '../signing/fixture-keys.ts';
import { type RepositoryBucket, startStore } from './bucket.ts';
import { committedBundle } from './bundle.ts';
import { machineApt } from './machine-apt.ts';
import { fetchPackages, pickPackages, type RealDeb } from './real-packages.ts';
import { publishStep, type StepResult } from './runner.ts';

/** A component of a suite, and what was published into it. */
export interface PublishedComponent {
  readonly suite: string;
  readonly component: string;
  readonly debs: readonly RealDeb[];
}

/** A repository of real packages in a real store, written by several steps on several machines. */
export interface RealRepository extends AsyncDisposable {
  readonly bucket: RepositoryBucket;
  readonly components: readonly PublishedComponent[];
  /** Folder of the source package's files, which are in `main` of the suite `sourceSuite`. */
  readonly sourceFolder: string;
  readonly steps: readonly StepResult[];
  /** What the last step says for each suite: the `.sources` texts that users copy. */
  readonly sourcesEntries: readonly string[];
  readonly publicKey: string;
}

export const sourceSuite = 'bookworm-backports';
export const contentsSuite = 'stable/updates';
export const sourceName = 'hello';

/** Fetches the packages from the machine's mirrors and publishes them in three steps, each with nothing but its own files. */
export async function publishRealPackages(): Promise<RealRepository> {
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const bundle = stack.use(await committedBundle());
  const store = stack.use(await startStore());
  const bucket = await store.bucket('real');
  const fetched = join(folder, 'fetched');
  const sourceFolder = join(folder, 'source');
  await mkdir(sourceFolder);
  const debs = await fetchEverything(fetched, sourceFolder);

  const share = (part: number): RealDeb[] => debs.filter((_, index) => index % 5 === part);
  const base = { ...bucket.inputs, 'gpg-private-key': keyText('ed25519'), origin: 'Example', label: 'Example' };
  const first = await workspace(folder, { '.': share(0) });
  const second = await workspace(folder, { more: share(1), other: share(2) });
  await mkdir(join(second, 'source'));
  for (const name of await readdir(sourceFolder)) await link(join(sourceFolder, name), join(second, 'source', name));
  const third = await workspace(folder, { main: share(3), contrib: share(4) });
  const steps = [
    await publishStep(bundle, { ...base, suites: 'bookworm', packages: '*.deb' }, { workspace: first }),
    await publishStep(
      bundle,
      { ...base, suites: `bookworm/main: more/*.deb\n${sourceSuite}/main: other/*.deb source/*.dsc` },
      { workspace: second },
    ),
    await publishStep(
      bundle,
      // debmirror takes `stable/updates` for the folder `updates` of a release that calls itself `stable`.
      {
        ...base,
        codename: 'stable',
        contents: 'true',
        suites: `${contentsSuite}/main: main/*.deb\n${contentsSuite}/contrib: contrib/*.deb`,
      },
      { workspace: third },
    ),
  ];
  const output = (name: string): string[] => steps.map(({ outputs }) => outputs.get(name) ?? '');
  const components = [
    { suite: 'bookworm', component: 'main', debs: [...share(0), ...share(1)] },
    { suite: sourceSuite, component: 'main', debs: share(2) },
    { suite: contentsSuite, component: 'main', debs: share(3) },
    { suite: contentsSuite, component: 'contrib', debs: share(4) },
  ];
  const running = stack.move();
  return {
    bucket,
    components,
    sourceFolder,
    steps,
    // The second step's says both of its suites, that of the first among them.
    sourcesEntries: output('sources-entry').slice(1),
    publicKey: output('public-key')[0] ?? '',
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function fetchEverything(debFolder: string, sourceFolder: string): Promise<RealDeb[]> {
  await using apt = await machineApt();
  const debs = await fetchPackages(apt, pickPackages(await apt.offered()), debFolder);
  await apt.downloadSource(sourceName, sourceFolder);
  return debs;
}

/** A checkout with these files in these folders. */
async function workspace(folder: string, parts: Readonly<Record<string, readonly RealDeb[]>>): Promise<string> {
  const path = join(folder, `workspace-${Object.keys(parts).join('-')}`);
  for (const [part, debs] of Object.entries(parts)) {
    await mkdir(join(path, part), { recursive: true });
    for (const deb of debs) await link(deb.path, join(path, part, basename(deb.path)));
  }
  return path;
}

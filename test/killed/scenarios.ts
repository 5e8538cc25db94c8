import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderSuiteRecord } from '../../src/publish/suite-record.ts';
import { buildDeb, type DebRecipe } from '../debs.ts';
import type { Inputs } from '../e2e/runner.ts';
import { publishedAt } from '../publish/publishing.ts';
import type { Snapshot } from '../publish/repository-check.ts';
import { keyText } from '../signing/fixture-keys.ts';
import { fill, type Places, snapshotOf } from './places.ts';
import { recordsOf } from './same-snapshot.ts';
import { action, runStep } from './step.ts';

/** A publish that is killed, and what was published before it. */
export interface Scenario {
  readonly title: string;
  readonly before: readonly Inputs[];
  /** How long ago that was, for what expires. */
  readonly daysAgo?: number;
  readonly inputs: Inputs;
}

const into = (packages: string, more: Inputs = {}): Inputs => ({
  'gpg-private-key': keyText('ed25519'),
  origin: 'Example',
  label: 'Example',
  comment: 'never',
  compression: 'gz',
  suites: 'sid',
  packages: packages
    .split(' ')
    .map((name) => `${name}.deb`)
    .join('\n'),
  ...more,
});
const replacing: Inputs = { 'on-conflict': 'replace' };
const contents: Inputs = { contents: 'true' };

export const scenarios: readonly Scenario[] = [
  { title: 'a first publish', before: [], inputs: into('hello docs hello-arm') },
  { title: 'an update with Contents', before: [into('hello docs', contents)], inputs: into('two hello-arm', contents) },
  { title: 'a package that is replaced', before: [into('hello')], inputs: into('hello-other', replacing) },
  {
    title: 'two suites in one run',
    before: [into('hello')],
    inputs: into('two hello docs', { suites: 'sid\nforky' }),
  },
  {
    title: 'an update that removes what has expired',
    before: [into('hello'), into('hello-other', replacing), into('two'), into('three'), into('four')],
    daysAgo: 9,
    inputs: into('five'),
  },
];

const recipes: Readonly<Record<string, DebRecipe>> = {
  hello: { files: { 'usr/bin/hello': 'hello' } },
  'hello-other': { files: { 'usr/bin/hello': 'hello, other' } },
  'hello-arm': { fields: { Architecture: 'arm64' } },
  docs: { fields: { Package: 'docs', Architecture: 'all' }, files: { 'usr/share/doc/docs/a': 'a' } },
  ...Object.fromEntries(['two', 'three', 'four', 'five'].map((name) => [name, { fields: { Package: name } }])),
};

export async function fillWorkspace(workspace: string): Promise<void> {
  await mkdir(workspace, { recursive: true });
  for (const [name, recipe] of Object.entries(recipes)) {
    await writeFile(join(workspace, `${name}.deb`), buildDeb(recipe));
  }
}

/** SOURCE_DATE_EPOCH of the run that a scenario is about; those before it are a minute apart. */
export const scenarioDate = publishedAt / 1000 + 3600;

/** What is there when the run of a scenario begins: in `places`, since records tell what kind of store they are in. */
export async function stateBefore({ before, daysAgo = 0 }: Scenario, places: Places, workspace: string) {
  const place = await places.next();
  for (const [index, inputs] of before.entries()) {
    const date = publishedAt / 1000 + 60 * index;
    const finished = await runStep({ main: action, workspace, inputs: { ...inputs, ...place.inputs }, date });
    if (finished.code !== 0) throw new Error(`${finished.stdout}${finished.stderr}`);
  }
  return aged(await snapshotOf(place), daysAgo * 24 * 3600_000);
}

/** The same repository, a while later: only records know when something was replaced. */
function aged(snapshot: Snapshot, by: number): Snapshot {
  const earlier = (moment: string) => new Date(Date.parse(moment) - by).toISOString();
  const records = recordsOf(snapshot).map(([key, record]): [string, Uint8Array] => [
    key,
    renderSuiteRecord({
      ...record,
      kept: record.kept.map((kept) => ({ ...kept, until: earlier(kept.until) })),
      unlisted: record.unlisted.map((file) => ({ ...file, since: earlier(file.since) })),
    }),
  ]);
  return new Map([...snapshot, ...records]);
}

/** A place in which the run of a scenario can begin. */
export async function placeWith(places: Places, before: Snapshot) {
  const place = await places.next();
  await fill(place, before);
  return place;
}

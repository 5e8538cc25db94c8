import { fieldValue } from '../debian/deb822.ts';
import { sourcesEntry } from '../debian/sources-entry.ts';
import { Problem } from '../problem.ts';
import type { SuiteResult } from '../publish/outcome.ts';
import { readSite, type ShownSuite } from '../publish/read-site.ts';
import { isDryRun } from '../publish/request.ts';
import type { RunContext } from '../publish/run-context.ts';
import { type SiteFile, writeSite } from '../publish/write-site.ts';
import { type SiteRepository, type SiteSuite, sourcesKey, suitePageKey } from '../report/site-facts.ts';
import { repositoryPage } from '../report/site-repository.ts';
import { suitePage } from '../report/site-suite.ts';
import { armoredPublicKey, binaryPublicKey, fingerprints } from '../signing/verify.ts';
import type { Settings } from './settings.ts';

/**
 * Renews the pages of the repository after a run that may have changed it: the overview, and a page and a `.sources` file for each of its
 * suites. What is published is published: whatever goes wrong here is a warning.
 */
export async function publishSite(
  { request, publicUrl, site }: Settings,
  run: RunContext,
  results: readonly SuiteResult[],
): Promise<void> {
  if (site === undefined || publicUrl === undefined || isDryRun(request)) return;
  try {
    const suites = await readSite(
      run,
      results.map(({ outcome }) => outcome.suite),
    );
    await writeSite(run, siteFiles(publicUrl, run, suites));
  } catch (error) {
    const why = error instanceof Problem ? error.message : `this is a defect of apt-publish (${String(error)}).`;
    run.warn(`The suites are published; the page of the repository is not what it should be: ${why}`);
  }
}

function siteFiles(url: string, { keys }: Pick<RunContext, 'keys'>, suites: readonly ShownSuite[]): SiteFile[] {
  const repository: SiteRepository = {
    url,
    name: nameOf(url, suites),
    fingerprints: keys === undefined ? [] : fingerprints(keys),
  };
  const key = keys === undefined ? undefined : armoredPublicKey(keys);
  const page = (at: string, text: string): SiteFile => file(at, text, 'text/html; charset=utf-8');
  const shown = suites.map((suite) => ({ ...siteSuite(url, suite), packages: suite.packages }));
  return [
    page('index.html', repositoryPage(repository, shown)),
    ...shown.flatMap(({ packages, ...suite }) =>
      packages === undefined ? [] : [page(suitePageKey(suite.suite), suitePage(repository, suite, packages))],
    ),
    ...suites.map((suite) => {
      const text = entryOf(url, suite, key === undefined ? 'unsigned' : { key });
      return file(sourcesKey(suite.suite), text, 'text/plain; charset=utf-8');
    }),
    ...(keys === undefined || key === undefined
      ? []
      : [
          file('key.asc', key, 'application/pgp-keys'),
          { key: 'key.gpg', body: binaryPublicKey(keys), contentType: 'application/pgp-keys' },
        ]),
  ];
}

function file(key: string, text: string, contentType: string): SiteFile {
  return { key, body: Buffer.from(text), contentType };
}

function siteSuite(url: string, shown: ShownSuite): SiteSuite {
  const field = (name: string) => fieldValue(shown.release.fields, name) ?? '';
  return {
    suite: shown.suite,
    description: field('Description'),
    version: field('Version'),
    architectures: shown.architectures,
    components: shown.components,
    date: field('Date'),
    // The line for the key comes last, and depends on where the reader keeps it.
    entry: entryOf(url, shown, { keyring: '' }).replace(/^Signed-By:.*\n/m, ''),
  };
}

function entryOf(uri: string, shown: ShownSuite, trust: Parameters<typeof sourcesEntry>[0]['trust']): string {
  const { suite, components, architectures, hasSources } = shown;
  return sourcesEntry({ uri, suites: [suite], components, architectures, hasSources, trust });
}

/** What most of its suites call themselves by. */
function nameOf(url: string, suites: readonly ShownSuite[]): string {
  const names = suites.flatMap(
    ({ release }) => fieldValue(release.fields, 'Label') ?? fieldValue(release.fields, 'Origin') ?? [],
  );
  const [first] = [...Map.groupBy(names, (name) => name)].sort(([, a], [, b]) => b.length - a.length);
  return first?.[0] ?? new URL(url).host;
}

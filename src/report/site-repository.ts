import { type Html, html, link, nothing, text } from './html.ts';
import { addingSection, keySection } from './site-adding.ts';
import { type SiteRepository, type SiteSuite, suitePageKey } from './site-facts.ts';
import { sitePage } from './site-shell.ts';

/** The page at the root of the repository. */
export function repositoryPage(repository: SiteRepository, suites: readonly SiteSuite[]): string {
  const { name, url } = repository;
  return sitePage(
    name,
    html`<header><h1>${text(name)}</h1>
<p>A repository of Debian packages at <code>${text(url)}</code>.</p></header>
<main>
<h2 id="suites">Suites</h2>
<table>
<caption>${text(suites.length === 1 ? 'One suite' : `${suites.length} suites`)}; each has a page that lists its packages</caption>
<thead><tr><th scope="col">Suite</th><th scope="col">For</th><th scope="col">Published</th></tr></thead>
<tbody>
${suites.map(suiteRow)}</tbody>
</table>
<h2 id="add">Add the repository</h2>
${suites.map(
  (suite): Html => html`<details${suites.length === 1 ? html` open` : nothing}>
<summary>${text(suite.suite)}</summary>
${addingSection(repository, suite, 3)}</details>
`,
)}
${keySection(repository, '')}</main>`,
  );
}

function suiteRow({ suite, description, version, architectures, components, date }: SiteSuite): Html {
  const more = [description, version === '' ? '' : `version ${version}`].filter((part) => part !== '').join(', ');
  return html`<tr><th scope="row"><a href="${link('', suitePageKey(suite))}">${text(suite)}</a></th><td>${text(
    architectures.join(', ') || 'no packages yet',
  )}<small>${text(components.join(', '))}</small>${more === '' ? nothing : html`<small>${text(more)}</small>`}</td><td>${text(date)}</td></tr>
`;
}

import { type Html, html, link, nothing, text } from './html.ts';
import { addingSection, keySection } from './site-adding.ts';
import type { SiteFile, SitePackage, SiteRepository, SiteSuite } from './site-facts.ts';
import { sitePage } from './site-shell.ts';
import { bytes, count } from './units.ts';

/** Rows on one page: with more of them it takes several megabytes, and nobody reads them. */
export const mostRows = 12_000;
/** Of a summary, a version or a name: real ones are shorter. */
const longest = 200;

/** The page of a suite. `packages` come in the order in which they are to be listed; the first `mostRows` are. */
export function suitePage(repository: SiteRepository, suite: SiteSuite, packages: readonly SitePackage[]): string {
  const toRoot = '../'.repeat(suite.suite.split('/').length + 1);
  const { name } = repository;
  const facts: readonly (readonly [term: string, value: string])[] = [
    ['Description', suite.description],
    ['Version', suite.version],
    ['Architectures', suite.architectures.join(', ')],
    ['Components', suite.components.join(', ')],
    ['Published', suite.date],
  ];
  const shown = packages.slice(0, mostRows);
  return sitePage(
    `${suite.suite} – ${name}`,
    html`<header><nav aria-label="Repository"><a href="${text(`${toRoot}index.html`)}">${text(name)}</a></nav>
<h1>${text(suite.suite)}</h1>
<dl>${facts.filter(([, value]) => value !== '').map(([term, value]): Html => html`<dt>${text(term)}</dt><dd>${text(value)}</dd>`)}</dl></header>
<main>
<h2 id="list">Packages</h2>
<p hidden><label for="search">Search names, versions and descriptions</label><br>
<input id="search" type="search" autocomplete="off" spellcheck="false"> <span id="found" role="status"></span></p>
<table id="packages">
<caption>${text(captionOf(packages.length))}</caption>
<thead><tr><th scope="col">Package</th><th scope="col">Version</th><th scope="col">Files</th></tr></thead>
<tbody>
${shown.map((item): Html => packageRow(item, toRoot, suite.components.length > 1))}</tbody>
</table>
<section aria-labelledby="add"><h2 id="add">Add this suite</h2>
${addingSection(repository, suite, 3)}</section>
${keySection(repository, toRoot)}</main>`,
    { withSearch: true },
  );
}

function captionOf(packages: number): string {
  const all = count(packages, 'version');
  if (packages <= mostRows) return `${all} of packages`;
  return `${count(mostRows, 'version')} of ${all}: the newest of each package come first, and apt knows them all`;
}

function packageRow(item: SitePackage, toRoot: string, withComponent: boolean): Html {
  const { name, version, component, summary, files } = item;
  const below = [clipped(summary), withComponent ? component : ''].filter((part) => part !== '').join(' – ');
  return html`<tr><th scope="row">${text(clipped(name))}${below === '' ? nothing : html`<small>${text(below)}</small>`}</th><td>${text(
    clipped(version),
  )}</td><td>${files.map((file): Html => fileLink(file, toRoot))}</td></tr>
`;
}

function fileLink({ architecture, filename, size }: SiteFile, toRoot: string): Html {
  return html`<a href="${link(toRoot, filename)}">${text(architecture)}</a> ${text(bytes(size))}<br>`;
}

function clipped(value: string): string {
  return value.length <= longest ? value : `${value.slice(0, longest - 1)}…`;
}

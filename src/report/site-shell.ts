import { createHash } from 'node:crypto';
import { type Html, html, text } from './html.ts';

/** Light or dark as the reader has it; contrast is at least that of WCAG 2.2, level AA. */
const style = `:root{color-scheme:light dark;--back:#fff;--fore:#1b1f24;--soft:#f3f4f6;--line:#c9ced6;--link:#0550ae}
@media(prefers-color-scheme:dark){:root{--back:#14171b;--fore:#e4e7eb;--soft:#1f242b;--line:#3b424c;--link:#79b8ff}}
*{box-sizing:border-box}
html{background:var(--back);color:var(--fore)}
body{font:1rem/1.5 system-ui,sans-serif;max-width:64rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.2rem;margin:2rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1rem 0 .25rem}
a{color:var(--link)}
code,pre{font:.875rem/1.5 ui-monospace,monospace}
pre{margin:.25rem 0;padding:.75rem;background:var(--soft);border:1px solid var(--line);border-radius:.375rem;overflow-x:auto;white-space:pre;overflow-wrap:normal}
table{width:100%;border-collapse:collapse}
caption{text-align:start;padding:.25rem 0}
th,td{text-align:start;vertical-align:top;padding:.375rem .75rem .375rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600}
#packages :is(td,th):last-child{white-space:nowrap;overflow-wrap:normal}
small{display:block;font-weight:400}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.125rem 1rem;margin:.5rem 0}
dt{font-weight:600}
dd{margin:0}
summary{cursor:pointer;padding:.375rem 0}
input{font:inherit;width:100%;max-width:24rem;padding:.375rem .5rem}
footer{margin-top:2rem;font-size:.875rem}
@media(max-width:40rem){dl{display:block}dd{margin-bottom:.375rem}th,td{padding-inline-end:.5rem}}`;

/** Filters the rows of the package table. Without it the table is whole, and the field is not there. */
const script = `{
const field=document.querySelector('#search'),box=field?.parentElement,told=document.querySelector('#found');
const rows=[...document.querySelectorAll('#packages tbody tr')].map(row=>[row,row.textContent.toLowerCase()]);
if(box){box.hidden=false;field.addEventListener('input',()=>{
const words=field.value.toLowerCase().split(/\\s+/);let found=0;
for(const [row,content] of rows){const fits=words.every(word=>content.includes(word));row.hidden=!fits;found+=fits;}
told.textContent=found+' of '+rows.length+' rows';});}
}`;

/** Nothing is loaded from anywhere, nothing is sent anywhere, and no script runs but the one above, whatever a package is called. */
const policy = [
  "default-src 'none'",
  `style-src '${sourceHash(style)}'`,
  `script-src '${sourceHash(script)}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** A whole page. */
export function sitePage(title: string, body: Html, options: { readonly withSearch?: boolean } = {}): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${text(policy)}">
<title>${text(title)}</title>
<style>${style as Html}</style>
</head>
<body>
${body}
<footer>This page was made by apt-publish. It is for people: apt reads the signed indexes and never this page.</footer>
${options.withSearch === true ? html`<script>${script as Html}</script>\n` : html``}</body>
</html>
`;
}

/** Commands to copy: a block that is scrolled by keyboard too. */
export function commands(label: string, lines: readonly string[]): Html {
  return html`<pre tabindex="0" role="region" aria-label="${text(label)}"><code>${text(lines.join('\n'))}</code></pre>
`;
}

function sourceHash(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`;
}

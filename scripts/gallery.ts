/**
 * Shows what a user sees: publishes in every way a user may meet, renders job summary, comment and trace of each run, draws them
 * in Chromium, and checks what a machine can check. Writes pages and pictures to tmp/gallery. Needs chromium and cmark-gfm.
 *
 *     npm run gallery                   all
 *     npm run gallery -- life dry-run   some groups
 *     npm run gallery -- compared       the comments of comparisons alone
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderChromeTrace } from '../src/report/chrome-trace.ts';
import { renderComment } from '../src/report/comment.ts';
import { renderSummary } from '../src/report/summary.ts';
import { machineHas } from '../test/debs.ts';
import { Browser, chromiumPath } from '../test/gallery/browser.ts';
import { comparisonPages } from '../test/gallery/comparison-pages.ts';
import { pageFaults } from '../test/gallery/page-checks.ts';
import { type Scene, scenes } from '../test/gallery/scenes.ts';
import { markdownToHtml, webPage } from '../test/gallery/web-page.ts';
import { root } from './build.ts';

const folder = join(root, 'tmp', 'gallery');
/** The group of comments that answer `/apt-perf`: they are of no run. */
const compared = 'compared';
const sourcesEntry = `Types: deb\nURIs: https://apt.example.org/debian\nSuites: bookworm\nComponents: main\n`;
const subject = { commit: '0123456789abcdef0123456789abcdef01234567', run: { id: 4711, attempt: 1 } };

/** Renders one page, draws it, and says what is wrong with it. */
async function show(browser: Browser, name: string, markdown: string): Promise<string[]> {
  const path = (extension: string) => join(folder, `${name}.${extension}`);
  await writeFile(path('md'), markdown);
  await writeFile(path('html'), webPage(await markdownToHtml(markdown)));
  return pageFaults(markdown, await browser.look(path('html'), path('png')));
}

async function showTrace(browser: Browser, { name, record }: Scene): Promise<string[]> {
  const trace = renderChromeTrace(record);
  await writeFile(join(folder, `${name}.trace.json`), trace);
  const written = trace.match(/"thread_name"/g)?.length ?? 0;
  const { tracks, faults } = await browser.openTrace(trace, join(folder, `${name}.trace.png`));
  if (tracks.length === written) return [...faults];
  return [...faults, `the trace has ${written} tracks, and speedscope shows ${tracks.length}`];
}

/** A run's summary, comment and trace. */
async function showScene(browser: Browser, scene: Scene): Promise<string[]> {
  const { name, record } = scene;
  const summary = renderSummary(record, record.outcome === 'failed' ? {} : { sourcesEntry });
  await writeFile(join(folder, `${name}.run.json`), JSON.stringify(record));
  return [
    ...(await show(browser, `${name}.summary`, summary)),
    ...(await show(browser, `${name}.comment`, renderComment(record, subject))),
    ...(await showTrace(browser, scene)),
  ];
}

/** A viewer that says nothing of slices that overlap would prove nothing. */
async function requireComplaint(browser: Browser): Promise<void> {
  const slice = (tid: number, ts: number) => ({ ph: 'X', pid: 1, tid, name: `slice at ${ts}`, ts, dur: 10 });
  const trace = JSON.stringify({ traceEvents: [slice(1, 0), slice(1, 5), slice(2, 0)] });
  const { faults } = await browser.openTrace(trace, join(folder, 'overlap.trace.png'));
  if (faults.length === 0) throw new Error('speedscope takes slices that overlap without a word.');
}

async function main(wanted: readonly string[]): Promise<void> {
  if (!existsSync(chromiumPath) || !machineHas('cmark-gfm')) {
    throw new Error('The gallery needs chromium and cmark-gfm: apt-get install chromium cmark-gfm');
  }
  await mkdir(folder, { recursive: true });
  await using browser = await Browser.start();
  await requireComplaint(browser);
  let failed = 0;
  const tell = (name: string, faults: readonly string[]) => {
    console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'}  ${name}`);
    for (const fault of faults) console.error(`        ${fault}`);
    if (faults.length > 0) failed += 1;
  };
  const groups = wanted.filter((group) => group !== compared);
  if (groups.length > 0 || wanted.length === 0) {
    for await (const scene of scenes(groups)) tell(scene.name, await showScene(browser, scene));
  }
  if (wanted.length === 0 || wanted.includes(compared)) {
    for (const { name, markdown } of comparisonPages()) tell(name, await show(browser, name, markdown));
  }
  console.log(`Pages and pictures are in ${folder}.`);
  if (failed > 0) process.exitCode = 1;
}

if (import.meta.main) await main(process.argv.slice(2));

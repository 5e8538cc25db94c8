import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

/** Where Debian puts it. */
export const chromiumPath = '/usr/bin/chromium';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--allow-file-access-from-files',
];

/** What a browser made of a page. */
export interface Seen {
  /** Of each table, how many cells each of its rows has. */
  readonly tables: readonly (readonly number[])[];
  /** How many Mermaid blocks were parsed and drawn. */
  readonly diagrams: number;
  /** What was said in the console, thrown, or refused by Mermaid. */
  readonly faults: readonly string[];
}

/** A headless Chromium with a profile of its own, which goes away with it. */
export class Browser implements AsyncDisposable {
  readonly #context: BrowserContext;
  readonly #profile: string;

  private constructor(context: BrowserContext, profile: string) {
    this.#context = context;
    this.#profile = profile;
  }

  static async start(): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), 'apt-publish-chromium-'));
    const viewport = { width: 1040, height: 800 };
    const options = { executablePath: chromiumPath, args: flags, headless: true, viewport };
    return new Browser(await chromium.launchPersistentContext(profile, options), profile);
  }

  /** Opens a page, lets Mermaid parse and draw what is its own, and takes a picture of the whole; folded parts stay folded. */
  async look(htmlPath: string, pngPath: string): Promise<Seen> {
    const { page, faults } = await this.#open(pathToFileURL(htmlPath).href);
    const drawn = await drawDiagrams(page);
    const tables = await page
      .locator('table')
      .evaluateAll((all: Table[]) => all.map(({ rows }) => [...rows].map(({ cells }) => cells.length)));
    await page.screenshot({ path: pngPath, fullPage: true });
    await page.close();
    return { tables, diagrams: drawn.diagrams, faults: [...faults, ...drawn.faults] };
  }

  /**
   * Opens a trace in speedscope, whose importer takes the slices of each track apart into begin and end and complains in the
   * console about every overlap. Gives back what it complained about, and the names of the tracks it found.
   */
  async openTrace(trace: string, pngPath: string): Promise<{ tracks: readonly string[]; faults: readonly string[] }> {
    const { page, faults } = await this.#open(import.meta.resolve('speedscope/dist/release/index.html'));
    const file = { name: 'trace.json', mimeType: 'application/json', buffer: Buffer.from(trace) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('Time Order').waitFor();
    await page.screenshot({ path: pngPath });
    // The title in the middle names the track shown and opens the list of all of them.
    await page.getByText(/\(1\/\d+\)/).click();
    const listed = (await page.locator('body').textContent()) ?? '';
    const tracks = new Set(listed.match(/(?<=\(pid \d+\), )\w+ \d+(?= \(tid \d+\))/g));
    await page.close();
    return { tracks: [...tracks], faults };
  }

  async #open(url: string): Promise<{ page: Page; faults: string[] }> {
    const page = await this.#context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => {
      const text = message.text();
      // What the graphics driver says of its speed is about this machine.
      if (/^(error|warning)$/.test(message.type()) && !text.includes('GL Driver Message')) faults.push(text);
    });
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(url);
    return { page, faults };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What of a page is used inside the browser; the rest of the project has no page to speak of. */
interface Table {
  readonly rows: Iterable<{ readonly cells: { readonly length: number } }>;
}
interface Block {
  readonly parentElement: { outerHTML: string };
}
interface Mermaid {
  initialize(options: object): void;
  parse(text: string): Promise<unknown>;
  render(id: string, text: string): Promise<{ svg: string }>;
}

/** Puts a picture in place of every Mermaid block, or the reason why there is none. */
async function drawDiagrams(page: Page): Promise<{ diagrams: number; faults: string[] }> {
  const faults: string[] = [];
  const blocks = page.locator('pre > code.language-mermaid');
  let diagrams = 0;
  for (; (await blocks.count()) > 0; diagrams += 1) {
    const block = blocks.first();
    const text = (await block.textContent()) ?? '';
    const { svg, refused } = await page.evaluate(draw, text);
    if (refused !== '') faults.push(`Mermaid refuses a diagram: ${refused}`);
    await block.evaluate((element: Block, picture) => {
      element.parentElement.outerHTML = picture;
    }, svg);
  }
  return { diagrams, faults };
}

/** Runs inside the browser. */
async function draw(text: string): Promise<{ svg: string; refused: string }> {
  const { mermaid } = globalThis as unknown as { mermaid: Mermaid };
  mermaid.initialize({ startOnLoad: false });
  try {
    await mermaid.parse(text);
    const { svg } = await mermaid.render('diagram', text);
    return { svg, refused: '' };
  } catch (error) {
    return { svg: '<p>no diagram</p>', refused: String(error) };
  }
}

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../gallery/browser.ts';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What is looked at: a phone and a laptop, light and dark, with and without scripts. */
export interface Look {
  readonly width: number;
  readonly dark?: boolean;
  readonly scripts?: boolean;
}

/** What a reader's browser makes of a page of the repository. */
export interface Looked {
  readonly page: Page;
  /** What was said in the console, or thrown. */
  readonly faults: readonly string[];
  /** Every address that was asked for. */
  readonly asked: readonly string[];
}

/** A headless Chromium that is gone afterwards. */
export class SiteBrowser implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #folder: string;

  private constructor(browser: Browser, folder: string) {
    this.#browser = browser;
    this.#folder = folder;
  }

  static async start(): Promise<SiteBrowser> {
    const folder = await mkdtemp(join(tmpdir(), 'apt-publish-site-browser-'));
    const browser = await chromium.launch({ executablePath: chromiumPath, args: flags, headless: true });
    return new SiteBrowser(browser, folder);
  }

  async open(url: string, { width, dark = false, scripts = true }: Look): Promise<Looked> {
    const context = await this.#browser.newContext({
      viewport: { width, height: 800 },
      colorScheme: dark ? 'dark' : 'light',
      javaScriptEnabled: scripts,
    });
    const page = await context.newPage();
    const faults: string[] = [];
    const asked: string[] = [];
    page.on('console', (message) => {
      if (/^(error|warning)$/.test(message.type())) faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(url);
    return { page, faults, asked };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What axe finds wrong, as `rule: element`: WCAG 2.2 A and AA, and what it calls best practice. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const source = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
  // The page's own policy lets no script in: this one is put there by the debugger, as an extension would.
  await page.evaluate(source);
  const found: { id: string; nodes: { html: string }[] }[] = await page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))',
  );
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`));
}

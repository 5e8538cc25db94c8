import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSettings } from '../../src/action/inputs.ts';
import { startSession } from '../../src/action/session.ts';
import { publishSite } from '../../src/action/site.ts';
import { perform } from '../../src/publish/commands.ts';
import { fakeRunner } from '../action/fake-runner.ts';
import { buildDeb, buildDsc, type DebRecipe } from '../debs.ts';
import { type HttpDirectory, serveDirectory } from '../rig/http-directory.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { keyText } from '../signing/fixture-keys.ts';
import { realClock } from '../store/clocks.ts';

/** A repository with pages in a folder, behind a web server. */
export interface PublishedSite extends AsyncDisposable {
  readonly folder: string;
  readonly server: HttpDirectory;
  /** Runs the action as a workflow would; answers with what it warned of. */
  run(inputs: Readonly<Record<string, string>>): Promise<string[]>;
  /** Writes a .deb and says where. */
  addDeb(name: string, fields: DebRecipe['fields']): Promise<string>;
  /** Writes a source package and says where its .dsc is. */
  addSource(): Promise<string>;
}

export async function publishedSite(): Promise<PublishedSite> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(await temporaryFolder());
  const folder = join(path, 'site');
  const server = stack.use(await serveDirectory(folder));
  const kept = stack.move();
  return {
    folder,
    server,
    run: async (inputs) => {
      const common = { bucket: folder, site: 'true', 'public-url': server.url, 'gpg-private-key': keyText('ed25519') };
      const runner = fakeRunner({ ...common, ...inputs });
      const settings = await readSettings({
        source: runner,
        secrets: runner.secrets,
        folder: path,
        temporaryFolder: path,
      });
      const session = await startSession(settings, realClock, runner);
      await publishSite(settings, session.run, await perform(session.run, settings.request));
      return [...session.warnings];
    },
    addDeb: async (name, fields = {}) => {
      const target = join(path, `${name}.deb`);
      await writeFile(target, buildDeb({ fields }));
      return target;
    },
    addSource: async () => {
      const tarball = Buffer.from('upstream');
      await writeFile(join(path, 'hello_1.0.orig.tar.gz'), tarball);
      const target = join(path, 'hello_1.0-1.dsc');
      await writeFile(target, buildDsc({ 'hello_1.0.orig.tar.gz': tarball }));
      return target;
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** What somebody may have written into a package to have it shown. */
export const hostile = `<script>alert(1)</script><img src=x onerror=alert(2)> "quoted" 'too' \u202Egnihsif & more`;

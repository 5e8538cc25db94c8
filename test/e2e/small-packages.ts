import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildDeb, type DebRecipe } from '../debs.ts';

/** Path in the workspace → what the .deb is made of. */
export type Workspace = Readonly<Record<string, DebRecipe['fields'] | Uint8Array | string>>;

/** Fills a workspace: fields make a .deb of that control file, bytes and text are written as they are. */
export async function fillWorkspace(folder: string, files: Workspace): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    const isBytes = typeof content === 'string' || content instanceof Uint8Array;
    await writeFile(
      target,
      isBytes ? content : buildDeb({ fields: content ?? {}, files: { 'usr/bin/hello': 'hello\n' } }),
    );
  }
}

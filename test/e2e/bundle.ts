import { cp, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { build, root } from '../../scripts/build.ts';
import { temporaryFolder } from '../rig/temporary.ts';

/** The action as a runner downloads it, in a folder of its own. */
export interface Bundle extends AsyncDisposable {
  /** What `runs.main` of action.yml names. */
  readonly main: string;
  /** The Node that action.yml asks for, whatever runs the tests. */
  readonly node: string;
}

/**
 * A copy of the committed `dist`, where no `node_modules` is anywhere above it: what is not in the bundle is not there. A checkout without
 * one gets it built; whether a committed one is fresh is for scripts/check-dist.ts to say.
 */
export async function committedBundle(): Promise<Bundle> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const target = join(folder.path, 'action', 'dist');
  const committed = join(root, 'dist');
  if (await exists(join(committed, 'index.js'))) await cp(committed, target, { recursive: true });
  else {
    await mkdir(join(folder.path, 'action'));
    await build(target);
  }
  const kept = stack.move();
  return {
    main: join(target, 'index.js'),
    node: join(root, 'node_modules/.bin/node'),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

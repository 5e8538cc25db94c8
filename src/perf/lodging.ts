import { chmod, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Bench } from './measure.ts';
import type { OtherUser } from './other-user.ts';

/** Where and as whom builds run; goes with everything that lies there. */
export type Lodging = Pick<Bench, 'sides' | 'node' | 'folder' | 'user'> & AsyncDisposable;

type Sides = Bench['sides'];

/** As this process's own user, from where the builds lie. */
export async function atHome(
  { node, temporaryFolder }: { readonly node: string; readonly temporaryFolder: string },
  sides: Sides,
): Promise<Lodging> {
  return lodging(await mkdtemp(join(temporaryFolder, 'apt-perf-')), { sides, node });
}

/**
 * As another user: builds and the program that runs them are copied to where that user gets, since the home of a runner is closed to others. What is
 * copied stays ours, so that neither build can change the other.
 */
export async function withUser(user: OtherUser, { node }: { readonly node: string }, sides: Sides): Promise<Lodging> {
  const folder = await mkdtemp(join(tmpdir(), 'apt-perf-'));
  await chmod(folder, 0o755);
  const copied = async (role: keyof Sides) => {
    const { main, inputs } = sides[role];
    const place = join(folder, role);
    await cp(dirname(main), place, { recursive: true });
    // With the files come the rights of their folder, which may be closed.
    await chmod(place, 0o755);
    return { main: join(place, basename(main)), inputs };
  };
  const program = join(folder, 'node');
  await cp(node, program, { dereference: true });
  const [base, head] = await Promise.all([copied('base'), copied('head')]);
  return lodging(folder, { sides: { base, head }, node: program, user });
}

function lodging(folder: string, rest: Omit<Lodging, 'folder' | typeof Symbol.asyncDispose>): Lodging {
  return { ...rest, folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

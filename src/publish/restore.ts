import { Problem } from '../problem.ts';
import { publicKeys } from '../signing/verify.ts';
import { putName } from './canonical-name.ts';
import { canonicalKey, recordKey } from './layout.ts';
import { type Baseline, readRecord } from './look.ts';
import { writeCanonical } from './rename-method.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import { together, wave } from './wave.ts';

/** How often the newest generation may change while names are put back to it. */
const rounds = 20;

/**
 * Puts these canonical names, and Release with its signature, back to what the newest generation says: names that an overtaken claim
 * has written, since this run may have written them after somebody else did. Repeated until no further claim came in between.
 */
export async function restore(
  run: RunContext,
  suite: string,
  paths: readonly string[],
  { store }: Pick<Phase, 'store'>,
): Promise<void> {
  const trusted = run.keys === undefined ? undefined : publicKeys(run.keys);
  let seen: string | undefined;
  for (let round = 1; round <= rounds; round += 1) {
    const object = await store.get(recordKey(suite));
    if (!object.found || object.etag === seen) return;
    seen = object.etag;
    const { record, release, releaseText } = await readRecord(object, suite, trusted);
    const sums = new Map(release.files.map(({ path, sha256 }) => [path, sha256]));
    const { releaseGpg } = record.generation;
    await together(
      wave(paths, async (path) => {
        const sha256 = sums.get(path);
        if (sha256 === undefined) return;
        await writeCanonical(run, store, suite, { path, sha256 });
      }),
      releaseGpg === undefined ? undefined : putName(store, suite, 'Release.gpg', releaseGpg),
      releaseGpg === undefined ? undefined : putName(store, suite, 'Release', releaseText),
    );
  }
  throw new Problem({
    code: 'restore-unfinished',
    title: 'Other publishers came too fast',
    what: `Suite ${suite} was published ${rounds} times by others while this run put its index names right.`,
    advice: 'Run the job again; nothing that it published is lost.',
  });
}

/**
 * Release stands beside the head and is written with it. Where that last write was lost, the next run puts it right, also one that has
 * nothing else to do.
 */
export async function mendRelease(run: RunContext, suite: string, { record, releaseText }: Baseline): Promise<void> {
  if (record.generation.releaseGpg === undefined) return;
  const current = await phase(run, 'read', suite, ({ store }) => store.get(canonicalKey(suite, 'Release')));
  if (current.found && Buffer.from(releaseText).equals(current.body)) return;
  await phase(run, 'rename', suite, (restoring) => restore(run, suite, [], restoring));
}

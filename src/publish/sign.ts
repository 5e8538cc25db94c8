import { type Release, renderRelease } from '../debian/release.ts';
import { signRelease } from '../signing/sign.ts';
import type { BuiltIndex } from './build-indexes.ts';
import { nextRelease } from './next-release.ts';
import type { Prepared } from './prepare.ts';
import type { GenerationSettings } from './request.ts';
import { phase, type RunContext } from './run-context.ts';

/** The Release files of the generation to come. */
export interface SignedGeneration {
  readonly release: Release;
  readonly releaseText: string;
  /** The text of the head: InRelease, or Release of an unsigned suite. */
  readonly head: string;
  readonly releaseGpg?: string;
}

/** How far a Date may lie ahead of a client's clock before apt refuses the file, milliseconds. */
const forgiven = 10_000;

/** The phase sign: InRelease and Release.gpg, verified with the public part before anything relies on them. */
export function signGeneration(
  run: RunContext,
  settings: GenerationSettings,
  prepared: Prepared,
  built: readonly BuiltIndex[],
): Promise<SignedGeneration> {
  const { suite, fields, published, components, architectures, listed = published?.release.files ?? [] } = prepared;
  return phase(run, 'sign', suite, async ({ scope }) => {
    const next = nextRelease({
      fields,
      published: published?.release,
      listed,
      info: settings.release,
      components,
      architectures,
      built,
      now: run.date,
    });
    const ahead = next.date - run.clock.now();
    if (next.ahead > 0 && ahead > forgiven) {
      run.warn(
        `The Date of suite ${suite} lies ${Math.round(ahead / 1000)} s ahead of the clock, since the published one does: clients refuse it until then.`,
      );
    }
    const { release } = next;
    const releaseText = renderRelease(release);
    const { keys } = run;
    if (keys === undefined) return { release, releaseText, head: releaseText };
    const signed = await scope.work('sign', releaseText.length, () =>
      signRelease(releaseText, keys, new Date(next.date)),
    );
    return { release, releaseText, head: signed.inRelease, releaseGpg: signed.releaseGpg };
  });
}

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

/**
 * How far a Date may lie ahead of a client's clock before apt refuses the file, milliseconds (apt.conf(5), Acquire::Max-FutureTime), and how
 * much of that is used: clocks differ.
 */
const forgiven = 10_000;
const used = 5000;
/** A Date that lies further ahead than this is that of a wrong clock: there is no use in waiting for it. */
const longestWait = 60_000;

/**
 * The phase sign: InRelease and Release.gpg, verified with the public part before anything relies on them. Each Date is a second newer than the
 * one before, so that publishes which follow each other more quickly than that run ahead of the clock: they wait before clients would notice.
 */
export async function signGeneration(
  run: RunContext,
  settings: GenerationSettings,
  prepared: Prepared,
  built: readonly BuiltIndex[],
): Promise<SignedGeneration> {
  const { suite, fields, published, components, architectures, listed = published?.release.files ?? [] } = prepared;
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
  const ahead = next.ahead > 0 ? next.date - run.clock.now() : 0;
  if (ahead > used && ahead <= longestWait) {
    run.warn(
      `Suite ${suite} is published more often than once a second, and its Date must not run ahead of the clock: this run has waited ${((ahead - used) / 1000).toFixed(1)} s.`,
    );
    await run.clock.sleep(ahead - used);
  } else if (ahead > forgiven) {
    run.warn(
      `The Date of suite ${suite} lies ${Math.round(ahead / 1000)} s ahead of the clock, since the published one does: clients refuse it until then.`,
    );
  }
  return phase(run, 'sign', suite, async ({ scope }) => {
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

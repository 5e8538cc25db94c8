import { gathered } from './list-changes.ts';
import { findOrphans } from './orphans.ts';
import { type Prepare, prepared } from './prepare.ts';
import { missingSuite } from './prepare-remove.ts';
import type { GenerationSettings } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import { readSuite } from './suite-state.ts';

/**
 * A republish signs again, with a new Date and Valid-Until and with the keys of this run; no index changes. It is also where by-hash
 * objects are found that a publisher staged and never claimed: they are condemned like expired ones, since whoever has just
 * staged one will lose its claim to this one, and see them condemned.
 */
export function prepareRepublish(run: RunContext, settings: GenerationSettings): Prepare {
  return async (suite) => {
    const state = await readSuite(run, suite, settings);
    const { published, has } = state;
    if (published === undefined) throw missingSuite(suite);
    const orphans = settings.dryRun
      ? []
      : await phase(run, 'read', suite, ({ store }) => findOrphans(store, suite, published, has.components));
    const ready = prepared(state, settings, {
      ...has,
      command: 'republish',
      indexes: new Map(),
      plan: gathered([], false),
    });
    return { ...ready, orphans, changed: true };
  };
}

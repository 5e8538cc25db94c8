import type { IncomingPackages } from './incoming.ts';
import { planSuite } from './plan.ts';
import { type Prepare, prepared } from './prepare.ts';
import type { PublishRequest } from './request.ts';
import { retentionOf, retentionReads } from './retention.ts';
import { phase, type RunContext } from './run-context.ts';
import { hasContents, shapeOf } from './shape.ts';
import { readSuite, readSuiteIndexes } from './suite-state.ts';
import { together } from './wave.ts';

/** The phases read and plan of a publish; the inputs are scanned beside the first look at the suite. */
export function preparePublish(run: RunContext, request: PublishRequest, incoming: IncomingPackages): Prepare {
  return async (suite, taken) => {
    const [state, scanned] = await together(readSuite(run, suite, request), incoming(suite, request.contents));
    const { has, published } = state;
    const contents = request.contents || hasContents(has);
    const arriving = contents === request.contents ? scanned : await incoming(suite, contents);
    const shape = shapeOf({
      suite,
      published: has,
      incoming: arriving,
      declared: request.architectures,
      contents,
    });
    const superseded = published?.record.superseded;
    const retention = retentionOf(request, { has, incoming: arriving, superseded, now: run.clock.now() });
    const needed = [...shape.needed, ...(retention === undefined ? [] : retentionReads(retention))];
    const indexes = await readSuiteIndexes(run, state, [...new Set(needed)]);
    return phase(run, 'plan', suite, async ({ scope }) => {
      const reserved = [...(published?.record.unlisted ?? []), ...taken];
      const bytes = [...indexes.values()].reduce((sum, index) => sum + index.length, 0);
      const plan = await scope.work('merge', bytes, () =>
        planSuite({
          suite,
          shape,
          indexes,
          reserved,
          onConflict: request.onConflict,
          ...(retention === undefined ? {} : { retention }),
        }),
      );
      const { components, architectures } = shape;
      return prepared(state, request, { command: request.command, components, architectures, indexes, plan });
    });
  };
}

import { throwProblems } from '../problem.ts';
import { isContents, namesPoolFiles, packagesPath, sourcesPath } from './index-paths.ts';
import { gathered, type ListChanges, noChanges, type SuitePlan } from './list-changes.ts';
import { type Offer, offeredPackages } from './offered.ts';
import { closeLists, openList, type PackageList } from './package-list.ts';
import { giveIndependentPackages } from './plan-binaries.ts';
import { type Prepare, prepared } from './prepare.ts';
import { listsOf, missingSuite } from './prepare-remove.ts';
import { promoteBinaries, promoteSources } from './promote-offer.ts';
import type { PromoteRequest } from './request.ts';
import { phase, type RunContext } from './run-context.ts';
import { hasContents } from './shape.ts';
import { closeSources, openSources } from './source-list.ts';
import { readSuite, readSuiteIndexes, type SuiteState } from './suite-state.ts';
import { together } from './wave.ts';

/**
 * The phases read and plan of a promotion: packages that one suite lists are listed by another too, under the names that they have in
 * the pool. No file moves, and no package is read.
 */
export function preparePromote(run: RunContext, request: PromoteRequest): Prepare {
  return async (suite) => {
    const [state, other] = await together(
      readSuite(run, suite, request),
      request.from === suite ? undefined : readSuite(run, request.from, request),
    );
    const from = other ?? state;
    if (from.published === undefined) throw missingSuite(request.from, 'from');
    const { components: wanted } = request.selection;
    const components = from.has.components.filter((component) => wanted?.includes(component) ?? true);
    const offeredIndexes = await readSuiteIndexes(run, from, listsOf(from, components).filter(namesPoolFiles));
    const { offer, problems } = offeredPackages(from, components, offeredIndexes, request);
    throwProblems(problems);
    const shape = shapeWith(state, from, offer);
    const given = shape.contents ? listsOf(from, components).filter(isContents) : [];
    const [indexes, vouching] = await together(
      readSuiteIndexes(run, state, listsOf(state, shape.touched)),
      readSuiteIndexes(run, from, given),
    );
    return phase(run, 'plan', suite, async ({ scope }) => {
      const bytes = [...indexes.values()].reduce((sum, index) => sum + index.length, 0);
      const plan = await scope.work('merge', bytes, () => planPromote(state, shape, indexes, offer, request));
      return prepared(state, request, {
        ...shape,
        command: request.command,
        indexes,
        vouching: [...vouching.values()],
        plan,
      });
    });
  };
}

/** What the suite has when the packages are in it. */
interface PromotedShape {
  readonly components: readonly string[];
  readonly architectures: readonly string[];
  /** Components whose lists change, or come into being. */
  readonly touched: readonly string[];
  readonly contents: boolean;
}

/** A suite that is new has the architectures of the one that it gets its packages from, whatever they are for. */
function shapeWith(state: SuiteState, from: SuiteState, { binaries, sources }: Offer): PromotedShape {
  const { has, published } = state;
  const sorted = (...lists: readonly (readonly string[])[]) => [...new Set(lists.flat())].sort();
  const receiving = sorted([...binaries, ...sources].map(({ component }) => component));
  const components = sorted(has.components, receiving);
  const own = binaries.map(({ entry }) => entry.architecture).filter((architecture) => architecture !== 'all');
  const architectures = published === undefined ? from.has.architectures : sorted(has.architectures, own);
  const grows = architectures.length > has.architectures.length;
  return {
    components,
    architectures,
    touched: grows ? components : receiving,
    contents: hasContents(published === undefined ? from.has : has),
  };
}

function planPromote(
  { suite, has }: SuiteState,
  { architectures, touched, contents }: PromotedShape,
  indexes: ReadonlyMap<string, Uint8Array>,
  offer: Offer,
  { from, onConflict }: PromoteRequest,
): SuitePlan {
  const changes: ListChanges = noChanges();
  const input = { suite, from, onConflict };
  for (const component of touched) {
    for (const kind of ['deb', 'udeb'] as const) {
      const offered = offer.binaries.filter((each) => each.component === component && each.list.kind === kind);
      const exists = (architecture: string) => has.indexes.has(packagesPath(component, architecture, kind));
      if (kind === 'udeb' && offered.length === 0 && !architectures.some(exists)) continue;
      const lists = architectures.map((architecture): PackageList => {
        const bytes = indexes.get(packagesPath(component, architecture, kind));
        return openList({ suite, component, kind, architecture }, exists(architecture) ? bytes : undefined);
      });
      promoteBinaries(lists, offered, input, changes);
      giveIndependentPackages(lists);
      closeLists(lists, changes);
    }
    const sources = openSources(suite, component, indexes.get(sourcesPath(component)));
    const offered = offer.sources.filter((each) => each.component === component);
    promoteSources(sources, offered, input, changes);
    closeSources([sources], changes);
  }
  return gathered([changes], contents);
}

import { joinContents } from '../debian/contents.ts';
import { contentsPath } from './index-paths.ts';

/** What the Contents of another tool become: one for each component and architecture, as the lists of packages are. */
interface OwnContents {
  /** Those that differ from what they were, or are new: uncompressed, by path without form. */
  readonly lists: ReadonlyMap<string, Uint8Array>;
  /** Those that say what others say now, or what nothing here could keep true. */
  readonly apart: ReadonlySet<string>;
}

/**
 * `contents` are indexes of a suite, others than Contents among them. What a Contents for `all` says goes into that of every architecture, as
 * its packages do. One of the whole suite (`Contents-amd64`) is that of the component where there is only one; where there are several, it is
 * left out: it would go on to tell what was true once, and no line of it says which component it belongs to.
 */
export function ownContents(
  suite: string,
  contents: ReadonlyMap<string, Uint8Array>,
  { components, architectures }: { readonly components: readonly string[]; readonly architectures: readonly string[] },
): OwnContents {
  const lists = new Map<string, Uint8Array>();
  const whole = [...contents.keys()].filter((path) => /^Contents-(?!udeb-|source$)[^/]+$/.test(path));
  const apart = new Set(whole);
  for (const component of components) {
    const of = (architecture: string) => {
      const path = contentsPath(component, architecture);
      return contents.get(path) ?? (components.length === 1 ? contents.get(`Contents-${architecture}`) : undefined);
    };
    const independent = of('all');
    if (independent !== undefined) apart.add(contentsPath(component, 'all'));
    for (const architecture of architectures) {
      const path = contentsPath(component, architecture);
      const own = of(architecture);
      const origin = `${path} of suite ${suite}`;
      if (independent !== undefined) lists.set(path, joinContents(own ?? new Uint8Array(), independent, origin));
      else if (own !== undefined && !contents.has(path)) lists.set(path, own);
    }
  }
  return { lists, apart };
}

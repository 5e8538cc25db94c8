/** A repository as its pages show it. */
export interface SiteRepository {
  /** The address that apt reads it from, without a trailing `/`. */
  readonly url: string;
  /** What it calls itself: the Origin or Label of its suites, or the host of its address. */
  readonly name: string;
  /** Of the keys that sign it, 40 hexadecimal digits each; none of an unsigned repository. */
  readonly fingerprints: readonly string[];
}

/** A suite as the overview shows it. */
export interface SiteSuite {
  readonly suite: string;
  readonly description: string;
  readonly version: string;
  readonly architectures: readonly string[];
  readonly components: readonly string[];
  /** As its Release says it. */
  readonly date: string;
  /** The text of its `.sources` file without the line for the key. */
  readonly entry: string;
}

/** Where the page of a suite lies, and the `.sources` file beside it, inside of the repository. */
export function suitePageKey(suite: string): string {
  return `dists/${suite}/index.html`;
}

export function sourcesKey(suite: string): string {
  return `dists/${suite}/repository.sources`;
}

/** One version of a package, for every architecture that it is there for. */
export interface SitePackage {
  readonly name: string;
  readonly version: string;
  readonly component: string;
  /** The first line of its description. */
  readonly summary: string;
  readonly files: readonly SiteFile[];
}

export interface SiteFile {
  /** `source` for a source package. */
  readonly architecture: string;
  /** In the pool. */
  readonly filename: string;
  readonly size: number;
}

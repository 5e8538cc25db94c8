import { compress, type Form } from '../codec/codecs.ts';
import type { PublishedForm } from '../codec/published-form.ts';
import { digest } from './digest.ts';
import { namesPoolFiles } from './index-paths.ts';
import { mergeContentsIndexes } from './merge-contents.ts';
import { nameDigest } from './name-digest.ts';
import type { Prepared } from './prepare.ts';
import type { GenerationSettings } from './request.ts';
import { type Phase, phase, type RunContext } from './run-context.ts';
import { wave } from './wave.ts';

/** One index in all the forms in which it is stored. */
export interface BuiltIndex {
  /** Without form, as the Release lists the uncompressed twin. */
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  readonly stored: readonly StoredForm[];
  /** Of a list of packages: see `name-digest.ts`. */
  readonly named?: Uint8Array | undefined;
}

export interface StoredForm {
  /** With its form: `main/binary-amd64/Packages.gz`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** The index phase of one suite: Contents merged, and everything that changed in all its forms. */
export function buildSuite(run: RunContext, settings: GenerationSettings, prepared: Prepared): Promise<BuiltIndex[]> {
  const { suite, plan, indexes, vouching = [], adopted, forms } = prepared;
  return phase(run, 'index', suite, async (indexing) => {
    const contents = await mergeContentsIndexes(run, indexing, suite, plan.contents, indexes, vouching);
    const lists = new Map([...(adopted?.lists ?? []), ...plan.lists, ...contents]);
    const [first = 'gz', ...others] = settings.compression;
    // Contents is large and read by apt-file alone: one form of it is enough, and gzip is the one that every reader knows.
    const contentsForm: Form = [first, ...others].includes('gz') ? 'gz' : first;
    const formsOf = (path: string) => (contents.has(path) ? [contentsForm] : settings.compression);
    const publishedForm = (path: string, form: Form) => {
      const packed = forms.get(`${path}.${form}`);
      const content = indexes.get(path);
      return packed === undefined || content === undefined ? undefined : { packed, content };
    };
    return buildIndexes(indexing, lists, formsOf, publishedForm);
  });
}

/** Compresses and hashes the indexes that changed, all at once, the largest first. */
async function buildIndexes(
  { scope }: Phase,
  lists: ReadonlyMap<string, Uint8Array>,
  formsOf: (path: string) => readonly Form[],
  publishedForm: (path: string, form: Form) => PublishedForm | undefined,
): Promise<BuiltIndex[]> {
  const largestFirst = [...lists].sort(([, a], [, b]) => b.length - a.length);
  scope.expect(largestFirst.reduce((sum, [path]) => sum + formsOf(path).length, 0));
  const built = await wave(largestFirst, async ([path, content]): Promise<BuiltIndex> => {
    const stored = await wave(formsOf(path), async (form): Promise<StoredForm> => {
      const bytes = await scope.work('compress', content.length, () =>
        compress(form, content, publishedForm(path, form)),
      );
      return { path: `${path}.${form}`, bytes, sha256: digest(bytes) };
    });
    const named = namesPoolFiles(path) ? nameDigest(content, path) : undefined;
    return { path, size: content.length, sha256: digest(content), stored, named };
  });
  return built.sort((a, b) => (a.path < b.path ? -1 : 1));
}

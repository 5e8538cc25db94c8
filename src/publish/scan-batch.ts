import { basename } from 'node:path';
import { Problem, throwProblems } from '../problem.ts';
import type { Scanned, ScannedFile } from './scanned.ts';

/**
 * A batch with each package once, in the order of first mention. The same package twice is taken once when it is the same
 * file; otherwise the batch contradicts itself, and no archive could hold both. So with a file that two source packages of
 * one name share (the upstream tarball of two Debian revisions): it has one place in the pool.
 *
 * Throws `package-twice` and `source-file-twice`, all of them together.
 */
export function oncePerPackage(batch: readonly Scanned[]): Scanned[] {
  const packages = new Map<string, Scanned>();
  const sourceFiles = new Map<string, ScannedFile>();
  const problems: Problem[] = [];
  for (const scanned of batch) {
    const key = `${scanned.package} ${scanned.version} ${architectureOf(scanned)}`;
    const earlier = packages.get(key);
    if (earlier === undefined) packages.set(key, scanned);
    else if (!sameBytes(earlier, scanned)) problems.push(packageTwice(earlier, scanned));
    if (earlier !== undefined || scanned.kind !== 'source') continue;

    for (const file of scanned.files.slice(1)) {
      const place = `${scanned.package}/${basename(file.path)}`;
      const other = sourceFiles.get(place);
      if (other === undefined) sourceFiles.set(place, file);
      else if (other.sha256 !== file.sha256) problems.push(sourceFileTwice(other, file, scanned.package));
    }
  }
  throwProblems(problems);
  return [...packages.values()];
}

function sameBytes(one: Scanned, other: Scanned): boolean {
  return one.kind === other.kind && mainFile(one).sha256 === mainFile(other).sha256;
}

/** The file that stands for the package: the .deb, or the .dsc, which holds the sums of all others. */
export function mainFile(scanned: Scanned): ScannedFile {
  if (scanned.kind !== 'source') return scanned.file;
  const [dsc] = scanned.files;
  if (dsc === undefined) throw new Error(`The source package ${scanned.package} was scanned without its .dsc.`);
  return dsc;
}

function architectureOf(scanned: Scanned): string {
  return scanned.kind === 'source' ? 'source' : scanned.architecture;
}

function packageTwice(one: Scanned, other: Scanned): Problem {
  const paths = `${mainFile(one).path} and ${mainFile(other).path}`;
  return new Problem({
    code: 'package-twice',
    title: 'Two files are the same package',
    what: `${paths} are both ${one.package} ${one.version} (${architectureOf(one)}), and they differ.`,
    advice: 'Publish only one of them, or give one a higher version.',
  });
}

function sourceFileTwice(one: ScannedFile, other: ScannedFile, name: string): Problem {
  return new Problem({
    code: 'source-file-twice',
    title: 'Two source packages disagree about a file',
    what: `${one.path} and ${other.path} both belong to the source package ${name}, and they differ.`,
    advice: 'Build both source packages from the same upstream tarball.',
  });
}

import { Problem } from '../problem.ts';
import type { PoolFile } from './list-changes.ts';
import type { ScannedBinary, ScannedSource } from './scanned.ts';

/**
 * The same name, version and architecture with other bytes. Clients that hold the old index would report a hash mismatch, and
 * machines that installed the old bytes would never get the new ones: it has to be asked for by name.
 */
export function conflict(
  item: ScannedBinary | ScannedSource,
  suite: string,
  listed: { filename: string; sha256?: string | undefined },
): Problem {
  const [first] = item.kind === 'source' ? item.files : [item.file];
  const architecture = item.kind === 'source' ? 'source' : item.architecture;
  return new Problem({
    code: 'package-conflict',
    title: 'Already published with other bytes',
    what: `${first?.path ?? item.package} is ${item.package} ${item.version} (${architecture}), which suite ${suite} already holds with other bytes as ${listed.filename} (SHA256 ${first?.sha256.slice(0, 12) ?? '?'}… here, ${listed.sha256?.slice(0, 12) ?? '?'}… there).`,
    advice:
      'Build it with a new version, or set `on-conflict: skip` to keep the published one, or `on-conflict: replace`.',
  });
}

/** The pool is one for all suites, and a name in it stands for the same bytes for ever: other suites list it. */
export function poolConflict(file: PoolFile, suites: readonly string[]): Problem {
  const [listed] = suites;
  const whose = listed === undefined ? 'already holds other bytes' : `holds other bytes, which suite ${listed} lists`;
  return new Problem({
    code: 'pool-conflict',
    title: 'The pool holds other bytes under this name',
    what: `${file.file.path} would be stored as ${file.key}, where the pool ${whose}.`,
    advice:
      listed === undefined
        ? 'Build it with a new version, or remove that object if nothing lists it.'
        : 'Build it with a new version, or set `on-conflict: replace` to store it beside the other one under a name of its own.',
  });
}

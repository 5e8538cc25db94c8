import { Problem } from '../problem.ts';
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

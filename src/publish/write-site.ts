import { digest } from './digest.ts';
import { phase, type RunContext } from './run-context.ts';
import { wave } from './wave.ts';

/** A file of the repository page. */
export interface SiteFile {
  readonly key: string;
  readonly body: Uint8Array;
  readonly contentType: string;
}

/**
 * Writes those of these files that are not what they should be already: one wave of looks and one of writes. Nobody else's publish depends on
 * them, so they are written without conditions; of two that write at once the later one wins, and the next publish writes what is true then.
 */
export function writeSite(run: RunContext, files: readonly SiteFile[]): Promise<void> {
  return phase(run, 'clean', undefined, async ({ store }) => {
    await wave(files, async ({ key, body, contentType }) => {
      const sha256 = digest(body);
      const present = await store.head(key);
      if (present.found && present.sha256 === sha256) return;
      await store.put(key, body, { contentType, cacheControl: 'no-cache, no-transform', sha256 });
    });
  });
}

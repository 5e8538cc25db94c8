import { ownPrefix } from '../publish/layout.ts';
import type { ImportOrigin } from '../publish/run-context.ts';
import { readTrustedKeys } from '../signing/trusted-keys.ts';
import { HttpStore } from '../store/http.ts';
import type { Clock } from '../timing/clock.ts';
import { openStore } from './open-store.ts';
import type { OriginSettings, Settings } from './settings.ts';

/** What an import reads from and whom it believes; nothing of it for other commands. Nothing is asked of the other repository yet. */
export async function openOrigin(
  { origin }: Pick<Settings, 'origin'>,
  clock: Clock,
  version: string,
): Promise<{ readonly origin?: ImportOrigin }> {
  if (origin === undefined) return {};
  const { location, key } = origin;
  return {
    origin: {
      ...(location === undefined ? {} : { store: originOf(location, clock, version) }),
      ...(key === undefined ? {} : { trusted: await readTrustedKeys(key) }),
    },
  };
}

function originOf(location: NonNullable<OriginSettings['location']>, clock: Clock, version: string) {
  if (location.kind !== 'public') return openStore(location, clock, version).store;
  return new HttpStore({ url: location.url, input: 'import', hidden: ownPrefix, version });
}

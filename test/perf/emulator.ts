/**
 * What comparisons run against when it is to be nothing real: an S3 server in memory behind a distance, and a signing key that is worth
 * nothing. A process of its own, so that it does not share an event loop with whoever takes the time; it tells its parent where it is, answers
 * every message with what has been asked of it since the last one, and ends with its parent. ROUND_TRIP_MS says how far away it is, FARTHER_MS how
 * far its second door. Large bodies are not kept, since nobody reads them again. Bundled beside the perf action.
 */
import { generateKey } from 'openpgp';
import { startLatencyProxy } from '../rig/latency-proxy.ts';
import type { S3Request } from '../rig/s3-request.ts';
import { rigCredentials, startS3Server } from '../rig/s3-server.ts';

const bucket = 'perf';
const server = await startS3Server({ buckets: [bucket], quirks: { forgets: 4 * 1024 ** 2 } });
const away = (roundTripMs: string | undefined) =>
  startLatencyProxy({ to: server.endpoint, delayMs: Number(roundTripMs) / 2, handshake: true });
const near = await away(process.env['ROUND_TRIP_MS']);
const far = await away(process.env['FARTHER_MS']);
const { privateKey } = await generateKey({
  userIDs: [{ name: 'Perf archive' }],
  // A runner’s clock may be a moment behind ours.
  date: new Date(Date.now() - 60_000),
});

let seen = 0;
function countsSinceLast() {
  const fresh = server.requests.slice(seen).filter(({ verb }) => verb !== 'OTHER');
  seen = server.requests.length;
  const sum = (of: (request: S3Request) => number) => fresh.reduce((total, request) => total + of(request), 0);
  const verbs = Map.groupBy(fresh, ({ verb }) => verb);
  return {
    requests: [...verbs].map(([verb, requests]) => ({ verb, count: requests.length })),
    bytesUp: sum(({ bytesUp }) => bytesUp),
    bytesDown: sum(({ bytesDown = 0 }) => bytesDown),
  };
}

process.on('disconnect', () => process.exit(0));
process.on('message', () => process.send?.(countsSinceLast()));
process.send?.({
  endpoint: near.endpoint,
  fartherEndpoint: far.endpoint,
  directEndpoint: server.endpoint,
  bucket,
  accessKeyId: rigCredentials.accessKeyId,
  secretAccessKey: rigCredentials.secretAccessKey,
  signingKey: privateKey,
});

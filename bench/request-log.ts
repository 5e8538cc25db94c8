import type { Sample } from './measurement.ts';

/** One HTTP request as it was seen at the client's end of the line. Times are milliseconds of one monotonic clock. */
export interface LoggedRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly start: number;
  /** The last byte of the answer, or the end of a connection that brought none. */
  readonly end: number;
  /** 0 where no answer came. */
  readonly status: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

/** Requests that change something. */
export function writes(requests: readonly LoggedRequest[]): LoggedRequest[] {
  return requests.filter(({ method }) => method !== 'GET' && method !== 'HEAD');
}

/**
 * What the log adds to the account of a process. Two windows, for whoever wrote at all:
 * - `first write to commit`: from the sending of the first write to the answer to the last write of a name that clients read.
 * - `mixture`: from the first to the last change of such a name. In between, a client that goes by names instead of hashes can meet
 *   files of two states.
 */
export function sampleOf(cost: Pick<Sample, 'ms' | 'cpuMs' | 'peakBytes'>, requests: readonly LoggedRequest[]): Sample {
  const sum = (value: (request: LoggedRequest) => number) => requests.reduce((total, each) => total + value(each), 0);
  const { ms, cpuMs, peakBytes } = cost;
  const changes = requests.filter(changesClientName).map(({ end }) => end);
  const starts = writes(requests).map(({ start }) => start);
  const windows =
    changes.length === 0
      ? {}
      : {
          windows: {
            'first write to commit': Math.max(...changes) - Math.min(...starts),
            mixture: Math.max(...changes) - Math.min(...changes),
          },
        };
  return {
    ms,
    cpuMs,
    peakBytes,
    requests: requests.length,
    bytesUp: sum(({ bytesUp }) => bytesUp),
    bytesDown: sum(({ bytesDown }) => bytesDown),
    ...windows,
  };
}

/** As `sampleOf`, for several processes in turn: their windows are not those of one, so there are none. */
export function sampleOfSeveral(
  cost: Pick<Sample, 'ms' | 'cpuMs' | 'peakBytes'>,
  requests: readonly LoggedRequest[],
): Sample {
  const { windows: _, ...sample } = sampleOf(cost, requests);
  return sample;
}

/** Writes (copies among them) below dists/, but for by-hash names and aptly's staging names (`Packages.tmp.gz`). */
function changesClientName({ method, target, status }: LoggedRequest): boolean {
  if (method !== 'PUT' || status < 200 || status > 299) return false;
  const path = decodeURIComponent(new URL(target, 'http://store').pathname);
  return path.includes('/dists/') && !path.includes('/by-hash/') && !/\.tmp(\.|$)/.test(path);
}

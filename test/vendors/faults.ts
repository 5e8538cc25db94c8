import type { FaultAction } from '../rig/s3-faults.ts';
import type { S3Request } from '../rig/s3-request.ts';

/** One way in which one request goes wrong, and the requests it can happen to. */
export interface Fault {
  readonly name: string;
  readonly action: FaultAction;
  readonly happensTo: (request: S3Request) => boolean;
  /** The client's patience for it, milliseconds without a byte; its default when absent. */
  readonly stallMs?: number;
}

const anything = () => true;
const sendsBody = ({ verb }: S3Request) => verb === 'PUT';
/** A refusal that has no reason can be told from a real one only where there is something to look at. */
const replacing = (request: S3Request) => conditional(request) && !request.key.endsWith('/probe');
const conditional = ({ verb, headers }: S3Request) =>
  verb === 'PUT' && (headers['if-match'] !== undefined || headers['if-none-match'] !== undefined);
/** Whose answers have a body that the client reads. */
const answersWithBody = ({ verb }: S3Request) => verb === 'GET' || verb === 'LIST' || verb === 'COPY';
const answersLate = ({ verb }: S3Request) => verb === 'COPY';

const answer = (when: 'before' | 'after', status: number, code: string, retryAfter?: number): FaultAction => ({
  do: 'answer',
  when,
  status,
  code,
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

/** Long enough for a busy machine to answer in time, short enough to wait for many times. */
const stallMs = 1000;

/** What happens once and may pass. A run must get over each of them, whichever request it meets. */
export const passingFaults: readonly Fault[] = [
  { name: '500 before it took effect', action: answer('before', 500, 'InternalError'), happensTo: anything },
  { name: '500 after it took effect', action: answer('after', 500, 'InternalError'), happensTo: anything },
  {
    name: 'a 502 page of a proxy',
    action: { do: 'page', status: 502, html: '<html><body>Bad Gateway</body></html>' },
    happensTo: anything,
  },
  {
    name: "a proxy's 503 after it took effect",
    action: answer('after', 503, 'ServiceUnavailable'),
    happensTo: anything,
  },
  { name: 'a 504 after it took effect', action: answer('after', 504, 'GatewayTimeout'), happensTo: anything },
  { name: 'a reset before', action: { do: 'drop', when: 'before' }, happensTo: anything },
  { name: 'a reset after it took effect', action: { do: 'drop', when: 'after' }, happensTo: anything },
  {
    name: 'no answer in time, and then it takes effect all the same',
    action: { do: 'delay', ms: 2 * stallMs },
    happensTo: anything,
    stallMs,
  },
  { name: '429 with Retry-After', action: answer('before', 429, 'TooManyRequests', 2), happensTo: anything },
  { name: 'SlowDown', action: answer('before', 503, 'SlowDown'), happensTo: anything },
  { name: '400 RequestTimeout', action: answer('before', 400, 'RequestTimeout'), happensTo: sendsBody },
  { name: '409', action: answer('before', 409, 'ConditionalRequestConflict'), happensTo: conditional },
  { name: '412 against its own success', action: answer('after', 412, 'PreconditionFailed'), happensTo: conditional },
  { name: '412 for no reason', action: answer('before', 412, 'PreconditionFailed'), happensTo: replacing },
  { name: 'a body cut short', action: { do: 'cut-body', bytes: 5 }, happensTo: answersWithBody },
  { name: 'a body that stalls', action: { do: 'stall-body', bytes: 5 }, happensTo: answersWithBody, stallMs },
  { name: 'an error inside a 200', action: answer('before', 200, 'InternalError'), happensTo: answersLate },
  { name: 'an error inside a 200 after all', action: answer('after', 200, 'InternalError'), happensTo: answersLate },
];

/** What begins at some request and goes on. A run must stop with a `Problem`, and leave what another run can build on. */
export const lastingFaults: readonly Fault[] = [
  { name: 'access denied', action: answer('before', 403, 'AccessDenied'), happensTo: anything },
  { name: 'an outage (503)', action: answer('before', 503, 'ServiceUnavailable'), happensTo: anything },
  { name: 'connections dropped', action: { do: 'drop', when: 'before' }, happensTo: anything },
  { name: 'the bucket gone', action: answer('before', 404, 'NoSuchBucket'), happensTo: anything },
];

/** Those of the passing ones that leave open whether a write took effect, or say the opposite of it. */
export const doubtfulFaults = passingFaults.filter(
  ({ name, action }) => action.do === 'drop' || action.do === 'delay' || /^(500|409|412)/.test(name),
);

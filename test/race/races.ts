import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Explored } from './exploration.ts';
import type { Operation } from './object-model.ts';

/** Says how much was explored, and fails with the shortest trace of each kind of violation. */
export function assertSound(t: TestContext, explored: Explored): void {
  const { counts, ends, mostRequests, complete, violations } = explored;
  t.diagnostic(
    `${counts}; at most ${mostRequests} requests of one publisher, ${complete ? 'every order' : 'not every order'}`,
  );
  assert.equal(violations.map(({ what, trace }) => [what, ...trace].join('\n  ')).join('\n'), '');
  assert.ok(ends > 0, 'no run came to an end');
}

/**
 * Requests whose order does not matter while nothing is removed: what stands under the name of its content is the same whoever
 * writes it, and the record of the pool does not exist.
 */
export function commutes({ verb, key }: Operation<unknown>): boolean {
  return verb !== 'COPY' && verb !== 'DELETE' && /^pool\/|\/by-hash\/|^\.apt-publish\/(?:pool\.json|probe)$/.test(key);
}

/** Writes between claim and commit, the claim included: where a publisher that stands still does harm, if anywhere. */
export function insideClaim(request: Operation<unknown>): boolean {
  const { verb, key } = request;
  return ((verb === 'PUT' || verb === 'COPY') && /^\.apt-publish\/[^/]+\.json$/.test(key)) || writesName(request);
}

/** Writes of canonical names and of the Release files, all of which change under their name. */
export function writesName({ verb, key }: Operation<unknown>): boolean {
  return (verb === 'PUT' || verb === 'COPY') && /^dists\/(?!.*\/by-hash\/)/.test(key);
}

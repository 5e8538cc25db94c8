import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { RepositoryCheck } from '../publish/repository-check.ts';
import type { Explored } from './exploration.ts';
import { bodies, type Operation } from './object-model.ts';
import type { Stepper } from './stepper.ts';

/** Says how much was explored, and fails with the shortest trace of each kind of violation. */
export function assertSound(t: TestContext, explored: Explored): void {
  const { states, runs, ends, mostRequests, complete, violations } = explored;
  t.diagnostic(
    `${states} states, ${runs} runs, ${ends} ends, at most ${mostRequests} requests of one publisher; ${complete ? 'every order' : 'not every order'}`,
  );
  assert.equal(violations.map(({ what, trace }) => [what, ...trace].join('\n  ')).join('\n'), '');
  assert.ok(ends > 0, 'no run came to an end');
}

/** Which packages must be in which suite when all who are alive have ended, by publisher. */
export function nobodyLost(
  check: RepositoryCheck,
  wanted: Readonly<Record<string, readonly [suite: string, file: string]>>,
) {
  return async ({ objects, processes }: Stepper): Promise<string[]> => {
    const alive = processes.filter(({ held }) => held === undefined);
    const lost = await Promise.all(
      alive.map(async ({ name }) => {
        const [suite, file] = wanted[name] ?? [];
        if (suite === undefined || file === undefined) return [];
        const packages = await check.packages(bodies(objects), suite);
        return packages.some((line) => line.includes(`/${file}`)) ? [] : [`${file} of ${name} is not in ${suite}`];
      }),
    );
    return lost.flat();
  };
}

/**
 * Requests whose order does not matter while nothing is removed: what stands under the name of its content is the same whoever
 * writes it, and the record of the pool does not exist.
 */
export function commutes({ verb, key }: Operation<unknown>): boolean {
  return verb !== 'COPY' && verb !== 'DELETE' && /^pool\/|\/by-hash\/|^\.apt-publish\/(?:pool\.json|probe)$/.test(key);
}

/** Writes between claim and commit, the claim included: where a publisher that stands still does harm, if anywhere. */
export function insideClaim({ verb, key }: Operation<unknown>): boolean {
  return (verb === 'PUT' || verb === 'COPY') && /^\.apt-publish\/[^/]+\.json$|^dists\/(?!.*\/by-hash\/)/.test(key);
}

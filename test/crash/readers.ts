import assert from 'node:assert/strict';
import { ClosingCounts } from '../faults/closing-counts.ts';
import { type Finding, RepositoryCheck } from '../publish/repository-check.ts';
import { bodies, type Objects } from '../race/object-model.ts';
import type { World } from './mortal-run.ts';
import { keys } from './scenarios.ts';

/** Reads repositories as clients do, at any instant, and counts what it sees. */
export class Readers {
  readonly counts = new ClosingCounts();
  readonly #check = new RepositoryCheck(keys);

  /** At every instant of a run, nothing is wrong but what `admits` says. */
  async assertSound(states: readonly Objects[], where: string, admits: readonly Finding['rule'][] = []): Promise<void> {
    for (const [index, objects] of states.entries()) {
      const snapshot = bodies(objects);
      const before = states[index - 1];
      const found = await this.#check.findings(snapshot);
      if (before !== undefined) found.push(...this.#check.headsGoneBack(bodies(before), snapshot));
      this.#assertNone(found, where, admits);
    }
  }

  /** Nobody is at work any more, and nothing is wrong or half done. */
  async assertEnded({ objects }: World, where: string): Promise<void> {
    this.#assertNone(await this.#check.findings(bodies(objects), true), where, []);
  }

  #assertNone(found: readonly Finding[], where: string, admits: readonly Finding['rule'][]): void {
    const wrong = found.filter(({ rule }) => !admits.includes(rule));
    this.counts.addJudged(wrong);
    assert.deepEqual(wrong, [], where);
  }

  /** What the readers of these suites see, a line for each package. */
  async packages({ objects }: World, suites: readonly string[]): Promise<string[]> {
    const lists = suites.map(async (suite) => {
      const lines = await this.#check.packages(bodies(objects), suite);
      return lines.map((line) => `${suite} ${line}`);
    });
    return (await Promise.all(lists)).flat();
  }

  /** Readers see these packages, in one of the ways that are right. */
  assertPackages(seen: readonly string[], right: readonly (readonly string[])[], where: string): void {
    const lost = right.map((lines) => lines.filter((line) => !seen.includes(line)).length);
    this.counts.add('packages lost', Math.min(...lost));
    assert.ok(
      right.some((lines) => lines.join('\n') === seen.join('\n')),
      `${where}: readers see\n${seen.join('\n')}`,
    );
  }

  /** Every by-hash object that a head, a record or a kept generation names, or that a claim has condemned. */
  explained({ objects }: World): Promise<Set<string>> {
    return this.#check.explained(bodies(objects));
  }
}

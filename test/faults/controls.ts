import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { requireFits, type SuiteName, sightIn } from './seeded-fault.ts';
import { seededFaults } from './seeded-faults.ts';

/** The proofs must be able to fail: each suite is run over sources in which one rule is broken. */

async function runSuite(suite: SuiteName, ...args: string[]): Promise<{ status: unknown; output: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const program = fileURLToPath(new URL(`../${suite}/run.ts`, import.meta.url));
  const child = spawn(process.execPath, [program, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const [status] = await once(child, 'close');
  return { status, output };
}

export function failsWhenBroken(suite: SuiteName): void {
  describe(`test:${suite} fails when`, () => {
    for (const fault of seededFaults) {
      const sight = sightIn(suite, fault);
      if (sight === undefined) continue;
      const { name, breaks } = fault;
      test(`${breaks} (${name})`, async () => {
        const { status, output } = await runSuite(suite, '--break', name);
        assert.equal(status, 1, output);
        assert.match(output, sight.shows);
        assert.match(output, new RegExp(`The fault ${name} .* is seen: `));
      });
    }
  });
}

export function understandsNames(suite: SuiteName): void {
  test(`test:${suite} ends with 2 and its usage for a fault that it does not know`, async () => {
    for (const args of [['--break', 'nothing-at-all'], ['--break'], ['--brake=no-lease'], ['no-lease']]) {
      const { status, output } = await runSuite(suite, ...args);
      assert.equal(status, 2, output);
      assert.match(output, new RegExp(`usage: npm run test:${suite} \\[-- --break NAME\\]`));
      for (const fault of seededFaults) {
        assert.equal(output.includes(fault.breaks), sightIn(suite, fault) !== undefined, output);
      }
    }
  });
}

export function fitsSources(): void {
  test('every seeded fault fits the sources, once', () => {
    for (const fault of seededFaults) requireFits(fault);
    assert.equal(new Set(seededFaults.map(({ name }) => name)).size, seededFaults.length);
  });
}

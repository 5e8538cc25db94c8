import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../rig/temporary.ts';
import { judge, type Verdict } from './target.ts';
import { targetNamed } from './targets.ts';

/** Inputs that once broke a promise, by target. Each is refused now, or accepted with every promise kept. */
const seeds = join(import.meta.dirname, 'seeds');
const accepted = new Set([
  'control/line-separator-in-a-value',
  'control/source-named-lib',
  'release/line-separator-in-a-date',
  'contents/header-twice',
  'contents/comma-twice',
]);

for (const target of readdirSync(seeds)) {
  for (const name of readdirSync(join(seeds, target))) {
    const verdict: Verdict = accepted.has(`${target}/${name}`) ? 'accepted' : 'refused';
    test(`${target}: ${name.replaceAll('-', ' ')} is ${verdict}, with every promise kept`, async (t) => {
      await using folder = await temporaryFolder();
      assert.equal(await judge(targetNamed(target), readFileSync(join(seeds, target, name)), folder.path), verdict);
      t.diagnostic('1 input tried');
    });
  }
}

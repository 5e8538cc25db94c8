import assert from 'node:assert/strict';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { differences } from '../../scripts/check-dist.ts';
import { renewed } from '../../scripts/docs.ts';
import { runProcess } from '../rig/process.ts';
import { temporaryFolder } from '../rig/temporary.ts';

const root = join(import.meta.dirname, '../..');

/** What the linter, as this project sets it up, says of each of these files. */
async function lint(files: Readonly<Record<string, string>>): Promise<Map<string, string[]>> {
  await using folder = await temporaryFolder();
  await cp(join(root, 'biome.json'), join(folder.path, 'biome.json'));
  await cp(join(root, 'scripts/ambient.grit'), join(folder.path, 'scripts/ambient.grit'));
  await symlink(join(root, 'node_modules'), join(folder.path, 'node_modules'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, name)), { recursive: true });
    await writeFile(join(folder.path, name), text);
  }
  const biome = join(root, 'node_modules/.bin/biome');
  const options = ['--reporter=json', '--max-diagnostics=none', '--error-on-warnings', 'src', 'test'];
  const { stdout, stderr } = await runProcess(biome, ['lint', ...options], { cwd: folder.path });
  const text = String(stdout);
  assert.ok(text.includes('{'), `biome said nothing: ${stderr}`);
  const report: { diagnostics: { category?: string; location?: { path?: string | { file?: string } } }[] } = JSON.parse(
    text.slice(text.indexOf('{')),
  );
  const found = new Map<string, string[]>();
  for (const { category, location } of report.diagnostics) {
    const path = typeof location?.path === 'string' ? location.path : location?.path?.file;
    const name = Object.keys(files).find((file) => path?.endsWith(file));
    if (name !== undefined && category !== undefined) found.set(name, [...(found.get(name) ?? []), category]);
  }
  return found;
}

const rooms = ['debian', 'codec', 'signing', 'store', 'timing', 'report', 'publish', 'action'] as const;
type Room = (typeof rooms)[number];

/** Which rooms a room may import, by the module map of the design. */
const arrows: Readonly<Record<Room, readonly Room[]>> = {
  debian: [],
  timing: [],
  codec: ['timing'],
  signing: ['timing'],
  store: ['timing'],
  report: ['timing'],
  publish: ['debian', 'codec', 'signing', 'store', 'timing'],
  action: ['debian', 'codec', 'signing', 'store', 'timing', 'report', 'publish'],
};

describe('the linter', () => {
  it('refuses every arrow between rooms that the design does not have, and no other', async () => {
    const files: Record<string, string> = {
      'src/problem.ts': 'export const thing = 1;\n',
      'test/x/thing.ts': 'export const thing = 1;\n',
    };
    const wrong = new Set<string>();
    for (const room of rooms) files[`src/${room}/thing.ts`] = 'export const thing = 1;\n';
    for (const from of rooms) {
      for (const to of rooms.filter((other) => other !== from)) {
        const name = `src/${from}/to-${to}.ts`;
        files[name] = `import { thing } from '../${to}/thing.ts';\nexport const own = thing;\n`;
        if (!arrows[from].includes(to)) wrong.add(name);
      }
      files[`src/${from}/to-problem.ts`] = `import { thing } from '../problem.ts';\nexport const own = thing;\n`;
      files[`src/${from}/to-test.ts`] = `import { thing } from '../../test/x/thing.ts';\nexport const own = thing;\n`;
      wrong.add(`src/${from}/to-test.ts`);
    }
    const found = await lint(files);
    assert.deepEqual([...found.keys()].sort(), [...wrong].sort());
    assert.deepEqual([...new Set([...found.values()].flat())], ['lint/style/noRestrictedImports']);
  });

  it('keeps each package to the room that it belongs to', async () => {
    const owners = {
      openpgp: 'src/signing/own.ts',
      '@aws-sdk/client-s3': 'src/store/s3.ts',
      '@smithy/node-http-handler': 'src/store/s3.ts',
      '@actions/core': 'src/action/own.ts',
      'node:worker_threads': 'src/codec/own.ts',
      'node:child_process': 'src/codec/own.ts',
    };
    for (const [name, owner] of Object.entries(owners)) {
      const files: Record<string, string> = {};
      for (const room of rooms)
        files[`src/${room}/other.ts`] = `import * as all from '${name}';\nexport const own = all;\n`;
      // Of the store only one file speaks to S3; the other owners are whole rooms.
      if (owner !== 'src/store/s3.ts') Reflect.deleteProperty(files, `${dirname(owner)}/other.ts`);
      files[owner] = `import * as all from '${name}';\nexport const own = all;\n`;
      const found = await lint(files);
      assert.deepEqual(
        [...found.keys()].sort(),
        Object.keys(files)
          .filter((file) => file !== owner)
          .sort(),
        name,
      );
    }
  });

  it('refuses a circle of imports', async () => {
    const found = await lint({
      'src/debian/a.ts': `import { b } from './b.ts';\nexport const a = () => b;\n`,
      'src/debian/b.ts': `import { a } from './a.ts';\nexport const b = () => a;\n`,
    });
    assert.deepEqual([...found.values()].flat(), ['lint/suspicious/noImportCycles', 'lint/suspicious/noImportCycles']);
  });

  it('refuses clocks, randomness and the environment below the edge, and allows them at it', async () => {
    const ambient = [
      'Date.now()',
      'new Date()',
      'Math.random()',
      'process.env',
      'crypto.randomUUID()',
      'performance.now()',
      'globalThis',
      `await import('node:process')`,
      `await import('node:perf_hooks')`,
    ];
    const imported = `import { env } from 'node:process';\nexport const own = env;\n`;
    const files: Record<string, string> = {
      'src/debian/fine.ts': 'export const own = [new Date(5), Date.UTC(2000, 1), Math.max(1, 2)];\n',
    };
    for (const [index, expression] of ambient.entries()) {
      for (const folder of ['src/store', 'src/action'])
        files[`${folder}/own-${index}.ts`] = `export const own = ${expression};\n`;
    }
    files['src/main.ts'] = 'export const own = Date.now();\n';
    files['src/store/import.ts'] = imported;
    files['src/action/import.ts'] = imported;
    const found = await lint(files);
    assert.deepEqual([...found.keys()].sort(), [
      'src/store/import.ts',
      ...ambient.map((_, index) => `src/store/own-${index}.ts`),
    ]);
  });

  it('refuses any, non-null assertions, default exports and barrels', async () => {
    const found = await lint({
      'src/debian/any.ts': 'export const own: any = 1;\n',
      'src/debian/bang.ts': 'export const own = [1][0]!;\n',
      'src/debian/default.ts': 'export default 1;\n',
      'src/debian/barrel.ts': `export * from './any.ts';\n`,
    });
    assert.deepEqual(
      [...found.keys()].sort(),
      ['any', 'bang', 'barrel', 'default'].map((name) => `src/debian/${name}.ts`),
    );
  });
});

describe('the check of dist', () => {
  it('finds a stale, a missing and a left-over file, also in folders', async () => {
    await using folder = await temporaryFolder();
    const write = async (name: string, text: string) => {
      await mkdir(dirname(join(folder.path, name)), { recursive: true });
      await writeFile(join(folder.path, name), text);
    };
    for (const side of ['old', 'new']) await write(`${side}/worker/same.js`, 'same');
    await write('old/index.js', 'old');
    await write('new/index.js', 'new');
    await write('old/worker/chunk.js', '');
    await write('new/worker/liblzma.wasm', '');
    const [committed, rebuilt] = [join(folder.path, 'old'), join(folder.path, 'new')];
    assert.deepEqual(await differences(committed, rebuilt), [
      'stale: index.js',
      'left over: worker/chunk.js',
      'missing: worker/liblzma.wasm',
    ]);
    assert.deepEqual(await differences(rebuilt, rebuilt), []);
    assert.equal((await differences(join(folder.path, 'nowhere'), rebuilt)).length, 3);
  });
});

describe('the tables of the README', () => {
  const action = {
    inputs: {
      suites: { description: 'One a line.\n  Or `a|b`.', required: true },
      component: { description: 'Where to.', default: 'main' },
    },
    outputs: { changed: { description: 'Whether.' } },
  };
  const readme =
    'a\n<!-- inputs:begin -->\nold\n<!-- inputs:end -->\nb\n<!-- outputs:begin -->\n<!-- outputs:end -->\nc\n';

  it('are renewed between their markers, and nothing else is', () => {
    const fresh = renewed(readme, action);
    assert.equal(
      fresh,
      `a
<!-- inputs:begin -->
| Input | What it says | Default |
| --- | --- | --- |
| \`suites\` | One a line. Or \`a\\|b\`. | **required** |
| \`component\` | Where to. | \`main\` |
<!-- inputs:end -->
b
<!-- outputs:begin -->
| Output | What it says |
| --- | --- |
| \`changed\` | Whether. |
<!-- outputs:end -->
c
`,
    );
    assert.equal(renewed(fresh, action), fresh);
  });

  it('need their markers', () => {
    assert.throws(() => renewed('nothing\n', action), /no place for the inputs/);
  });
});

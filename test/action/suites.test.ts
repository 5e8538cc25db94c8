import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { InputReader } from '../../src/action/input-reader.ts';
import { parseSuiteLine, type SuiteLine } from '../../src/action/suite-lines.ts';
import { readSuites } from '../../src/action/suites.ts';
import { Problem } from '../../src/problem.ts';
import type { SuiteRequest } from '../../src/publish/request.ts';
import { temporaryFolder } from '../rig/temporary.ts';
import { fakeRunner } from './fake-runner.ts';

describe('a line of suites', () => {
  const lines: readonly (readonly [line: string, read: SuiteLine])[] = [
    ['bookworm', { suite: 'bookworm' }],
    ['bookworm/updates', { suite: 'bookworm/updates' }],
    ['bookworm: a.deb', { suite: 'bookworm', globs: ['a.deb'] }],
    ['bookworm/main: a.deb', { suite: 'bookworm', component: 'main', globs: ['a.deb'] }],
    [
      'bookworm/updates/main:  a.deb\tb.deb ',
      { suite: 'bookworm/updates', component: 'main', globs: ['a.deb', 'b.deb'] },
    ],
    ['bookworm: x_1:2_all.deb', { suite: 'bookworm', globs: ['x_1:2_all.deb'] }],
    ['12.4~rc1+b_x', { suite: '12.4~rc1+b_x' }],
  ];
  for (const [line, read] of lines) {
    it(`is read: \`${line}\``, () => assert.deepEqual(parseSuiteLine(line), read));
  }

  const refused: readonly (readonly [line: string, says: RegExp])[] = [
    ['a/../b', /two dots in a row/],
    ['a//b', /two slashes in a row/],
    ['/a', /begins or ends with a slash/],
    ['a/', /begins or ends with a slash/],
    ['a b', /has a blank/],
    ['a\u0007b', /control character/],
    ['pool', /reserved/],
    ['pool/x: a.deb', /reserved/],
    ['.apt-publish', /begins with a dot/],
    ['-a', /begins with a dash/],
    ['a%2fb', /other than letters/],
    ['bücher', /other than letters/],
    ['stable/by-hash', /named like a folder inside a suite/],
    [': a.deb', /suite that has no name/],
    ['bookworm:', /has a colon and no file/],
    ['bookworm/: a.deb', /component that has no name/],
    ['bookworm/.x: a.deb', /component that has a part that begins with a dot/],
  ];
  for (const [line, says] of refused) {
    it(`is refused with the grammar: ${JSON.stringify(line)}`, () => {
      const problem = parseSuiteLine(line);
      assert.ok(problem instanceof Problem);
      assert.equal(problem.code, 'suite-line-invalid');
      assert.match(problem.what, says);
      assert.ok(problem.advice.includes('NAME[/COMPONENT][: GLOB …]'));
    });
  }
});

/** Reads suites in a workspace with these files. */
async function read(
  files: readonly string[],
  inputs: Record<string, string>,
): Promise<{ requests: SuiteRequest[]; problems: readonly Problem[] }> {
  await using workspace = await temporaryFolder();
  for (const file of files) {
    await mkdir(dirname(join(workspace.path, file)), { recursive: true });
    await writeFile(join(workspace.path, file), '');
  }
  await symlink(join(workspace.path, files[0] ?? ''), join(workspace.path, 'link.deb'));
  await symlink(join(workspace.path, 'nowhere'), join(workspace.path, 'dangling.deb'));
  const runner = fakeRunner(inputs);
  const reader = new InputReader(runner, runner.secrets);
  const requests: SuiteRequest[] = JSON.parse(
    JSON.stringify(await readSuites(reader, workspace.path)).replaceAll(`${workspace.path}/`, ''),
  );
  return { requests, problems: reader.faults };
}

async function requested(files: readonly string[], inputs: Record<string, string>): Promise<SuiteRequest[]> {
  const { requests, problems } = await read(files, inputs);
  assert.deepEqual(
    problems.map(({ message }) => message),
    [],
  );
  return requests;
}

async function refusal(files: readonly string[], inputs: Record<string, string>): Promise<Problem> {
  const { problems } = await read(files, inputs);
  assert.equal(problems.length, 1, problems.map(({ message }) => message).join('\n'));
  const [problem] = problems;
  assert.ok(problem !== undefined);
  return problem;
}

describe('the files of suites', () => {
  it('are those of `packages` for every suite that names none, sorted and each once', async () => {
    const files = ['d/b.deb', 'd/a.deb', 'd/c.udeb', 'd/e.dsc', 'd/f.changes', 'd/g.ddeb', 'd/notes.txt'];
    const inputs = { packages: 'd/*.{deb,udeb,ddeb}\nd/a.*\n\nd/*.dsc\nd/*.changes', suites: 'bookworm\ntrixie' };
    const uploads = [
      { component: 'main', paths: ['d/a.deb', 'd/b.deb', 'd/c.udeb', 'd/e.dsc', 'd/f.changes', 'd/g.ddeb'] },
    ];
    assert.deepEqual(await requested(files, inputs), [
      { suite: 'bookworm', uploads },
      { suite: 'trixie', uploads },
    ]);
  });

  it('go to the components that their lines name, and lines of one suite add up', async () => {
    const suites = 'bookworm\nbookworm/extra: x/*.deb\nbookworm: y/*.deb\nbookworm/extra: y/*.deb x/1.deb';
    assert.deepEqual(
      await requested(['x/1.deb', 'y/2.deb', 'z/3.deb'], { packages: 'z/*.deb', suites, component: 'base' }),
      [
        {
          suite: 'bookworm',
          uploads: [
            { component: 'base', paths: ['y/2.deb', 'z/3.deb'] },
            { component: 'extra', paths: ['x/1.deb', 'y/2.deb'] },
          ],
        },
      ],
    );
  });

  it('may be links to files, and stars reach into folders', async () => {
    const [request] = await requested(['a/b/c.deb'], { packages: 'link.deb\n**/c.deb', suites: 'bookworm' });
    assert.deepEqual(request?.uploads, [{ component: 'main', paths: ['a/b/c.deb', 'link.deb'] }]);
  });

  it('are missing when a glob matches nothing, and the problem shows the YAML to write', async () => {
    const problem = await refusal(['a.deb'], { packages: 'out/*.deb', suites: 'bookworm' });
    assert.equal(problem.code, 'glob-matches-nothing');
    assert.match(
      problem.message,
      /"out\/\*\.deb" of the input `packages` matches no file.*packages: \|\n {2}dist\/\*\.deb/s,
    );
  });

  it('are missing when a glob in a line of suites matches nothing', async () => {
    const problem = await refusal(['a.deb'], { suites: 'bookworm/extra: out/*.deb' });
    assert.match(problem.message, /input `suites`.*suites: \|\n {2}bookworm\/extra: dist\/\*\.deb/s);
  });

  it('are missing when a glob matches a folder or a dangling link', async () => {
    const problem = await refusal(['out/a.deb'], { packages: 'out/', suites: 'bookworm' });
    assert.equal(problem.code, 'glob-matches-folder');
    assert.match(problem.message, /packages: \|\n {2}out\/\*\.deb/);
    assert.match((await refusal(['a.deb'], { packages: 'dangling.deb', suites: 'bookworm' })).code, /glob-matches/);
  });

  it('are refused when a glob matches what is no package', async () => {
    const problem = await refusal(['out/a.deb', 'out/log', 'out/z.txt'], { packages: 'out/*', suites: 'bookworm' });
    assert.equal(problem.code, 'glob-matches-stranger');
    assert.match(problem.what, /out\/log" and 1 more, which are no \.deb/);
  });

  it('must be named for a suite that has none', async () => {
    const problem = await refusal(['a.deb'], { suites: 'bookworm\ntrixie: a.deb' });
    assert.match(problem.message, /`packages` is missing, and the suite "bookworm"/);
  });

  it('must have a suite to go to', async () => {
    const problem = await refusal(['a.deb'], { packages: 'a.deb', suites: 'bookworm: a.deb' });
    assert.match(problem.message, /`packages` goes nowhere/);
  });

  it('may not be sent to a suite inside a component of another suite', async () => {
    const problem = await refusal(['a.deb'], { packages: 'a.deb', suites: 'bookworm\nbookworm/main' });
    assert.match(problem.message, /"bookworm\/main", which lies inside the component "main" of the suite "bookworm"/);
    await requested(['a.deb'], { packages: 'a.deb', suites: 'bookworm\nbookworm/updates' });
  });

  it('need a suite', async () => {
    assert.match((await refusal(['a.deb'], { packages: 'a.deb' })).message, /`suites` is missing/);
  });
});

/**
 * The main job on an embedded default: publishes three small packages into two suites of a directory repository, adds one more,
 * and shows what a user of the action sees. Needs no network and no Debian tools; where apt is installed it reads the result.
 *
 *     npm run demo
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey } from 'openpgp';
import { buildDeb } from '../test/debs.ts';

const bundle = join(import.meta.dirname, '..', 'dist', 'index.js');
const site = join(import.meta.dirname, '..', 'site');

/** Runs the bundle as a runner would: inputs in the environment, outputs in a file. */
async function runAction(folder: string, inputs: Readonly<Record<string, string>>): Promise<Map<string, string>> {
  const output = join(folder, 'output');
  const summary = join(folder, 'summary.md');
  await writeFile(output, '');
  await writeFile(summary, '');
  const environment = Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
  const child = spawn(process.execPath, [bundle], {
    cwd: folder,
    env: {
      ...Object.fromEntries(environment),
      PATH: process.env['PATH'],
      RUNNER_TEMP: folder,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += String(chunk);
  });
  const [code] = await once(child, 'close');
  // Masking commands are for the runner, which swallows them.
  for (const line of printed.split('\n'))
    if (!line.startsWith('::add-mask::') && line !== '') console.log(`    ${line}`);
  if (code !== 0) throw new Error(`the action failed with exit code ${String(code)}`);
  return parseOutputs(await readFile(output, 'utf8'));
}

/** The format of GITHUB_OUTPUT: `name<<delimiter`, the lines of the value, the delimiter. */
function parseOutputs(text: string): Map<string, string> {
  const outputs = new Map<string, string>();
  for (const [, name = '', , value = ''] of text.matchAll(/^([^\n<]+)<<(\S+)\n([\s\S]*?)\n\2$/gm))
    outputs.set(name, value);
  return outputs;
}

/** Lets the machine's own apt read a suite, in a private root that leaves the machine alone. */
async function readWithApt(folder: string, entry: string): Promise<void> {
  if (spawnSync('apt-get', ['--version']).status !== 0) {
    console.log('\napt is not installed here, so nothing reads the repository back.');
    return;
  }
  const root = join(folder, 'apt');
  for (const part of ['lists/partial', 'archives/partial', 'sources.list.d'])
    await mkdir(join(root, part), { recursive: true });
  await writeFile(join(root, 'status'), '');
  await writeFile(join(root, 'sources.list.d', 'demo.sources'), entry);
  const options = [
    ...[
      `Dir::Etc::sourcelist=/dev/null`,
      `Dir::Etc::sourceparts=${root}/sources.list.d`,
      `Dir::State::status=${root}/status`,
    ],
    ...[
      `Dir::State::lists=${root}/lists`,
      `Dir::Cache=${root}`,
      'APT::Architecture=amd64',
      'APT::Architectures::=amd64',
    ],
    ...['APT::Sandbox::User=root', 'Acquire::Languages=none'],
  ].flatMap((option) => ['-o', option]);
  for (const command of [
    ['apt-get', 'update'],
    ['apt-cache', 'policy', 'hello', 'greetings'],
  ]) {
    const [program = '', ...words] = command;
    console.log(`\n$ ${command.join(' ')}`);
    const { stdout, stderr, status } = spawnSync(program, [...words, ...options], { encoding: 'utf8' });
    console.log(`${stdout}${stderr}`.trimEnd().replaceAll(/^/gm, '    '));
    if (status !== 0) throw new Error(`${program} failed with exit code ${String(status)}`);
  }
}

const folder = await mkdtemp(join(tmpdir(), 'apt-publish-demo-'));
try {
  await rm(site, { recursive: true, force: true });
  const { privateKey } = await generateKey({
    userIDs: [{ name: 'Demo archive' }],
    date: new Date(Date.now() - 60_000),
  });
  const debs: [name: string, fields: Record<string, string>][] = [
    ['hello_1.0_amd64.deb', {}],
    ['hello_1.0_arm64.deb', { Architecture: 'arm64' }],
    ['greetings_2.1-3_all.deb', { Package: 'greetings', Version: '2.1-3', Architecture: 'all' }],
  ];
  for (const [name, fields] of debs) await writeFile(join(folder, name), buildDeb({ fields }));
  const inputs = {
    bucket: site,
    'gpg-private-key': privateKey,
    origin: 'Demo',
    label: 'Demo',
    suites: 'bookworm\ntrixie',
  };

  console.log('Three packages into two new suites:');
  await runAction(folder, { ...inputs, packages: '*.deb' });

  console.log('\nOne more package into both:');
  await writeFile(join(folder, 'hello_1.1_amd64.deb'), buildDeb({ fields: { Version: '1.1' } }));
  const outputs = await runAction(folder, { ...inputs, packages: 'hello_1.1_*.deb' });

  const entry = outputs.get('sources-entry') ?? '';
  console.log('\nReady to paste into /etc/apt/sources.list.d/demo.sources:\n');
  console.log(entry.replaceAll(/^/gm, '    '));
  await readWithApt(folder, entry);
  console.log('\nThe repository is in ./site.');
} finally {
  await rm(folder, { recursive: true, force: true });
}

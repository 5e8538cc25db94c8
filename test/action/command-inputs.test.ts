import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { readRequest } from '../../src/action/command-inputs.ts';
import { InputReader } from '../../src/action/input-reader.ts';
import { type CommandName, type CommandRequest, commandNames } from '../../src/publish/request.ts';
import { fakeRunner } from './fake-runner.ts';

const action: { readonly inputs: Record<string, { readonly default?: string }> } = parse(
  await readFile(join(import.meta.dirname, '../../action.yml'), 'utf8'),
);
/** What the runner hands in for inputs that nobody has given. */
const presets = Object.fromEntries(
  Object.entries(action.inputs).flatMap(([name, { default: preset }]) =>
    preset === undefined ? [] : [[name, preset]],
  ),
);

const minimal: Readonly<Record<CommandName, Readonly<Record<string, string>>>> = {
  publish: { suites: 'bookworm: package.json' },
  republish: { suites: 'bookworm' },
  remove: { suites: 'bookworm', remove: 'hello' },
  promote: { suites: 'bookworm', from: 'testing' },
  rollback: { suites: 'bookworm', to: '12' },
  import: { suites: 'bookworm' },
  history: { suites: 'bookworm' },
  verify: { suites: 'bookworm' },
};

const publicUrl = 'https://apt.example.org';

async function read(inputs: Readonly<Record<string, string>>) {
  const runner = fakeRunner({ ...presets, ...inputs });
  const reader = new InputReader(runner, runner.secrets);
  const request = await readRequest(reader, '.', false, publicUrl);
  return { request, faults: reader.faults.map(({ message }) => message) };
}

async function requested(inputs: Readonly<Record<string, string>>): Promise<Partial<CommandRequest>> {
  const { request, faults } = await read(inputs);
  assert.deepEqual(faults, []);
  assert.ok(request !== undefined);
  return request;
}

async function onlyFault(inputs: Readonly<Record<string, string>>): Promise<string> {
  const { faults } = await read(inputs);
  assert.equal(faults.length, 1, faults.join('\n'));
  return faults[0] ?? '';
}

const limits = { renameConcurrency: 'auto', uploadConcurrency: 'auto' };
const change = {
  ...limits,
  release: {},
  allowReleaseInfoChange: false,
  compression: ['gz', 'xz'],
  requireConditionalWrites: false,
  dryRun: false,
};

describe('a command', () => {
  it('reads what it is about: republish and history nothing but suites', async () => {
    const suites = [{ suite: 'bookworm' }, { suite: 'trixie/updates' }];
    const names = 'bookworm\ntrixie/updates\nbookworm';
    assert.deepEqual(await requested({ command: 'republish', suites: names }), {
      command: 'republish',
      suites,
      ...change,
    });
    assert.deepEqual(await requested({ command: 'history', suites: names }), { command: 'history', suites, ...limits });
  });

  it('reads what it is about: verify how closely to look, and whether to mend', async () => {
    const { renameConcurrency, uploadConcurrency } = limits;
    const verify = {
      command: 'verify',
      suites: [{ suite: 'bookworm' }],
      renameConcurrency,
      uploadConcurrency,
      publicUrl,
    };
    assert.deepEqual(await requested({ command: 'verify', ...minimal.verify }), {
      ...verify,
      deep: false,
      repair: false,
    });
    const inputs = { ...minimal.verify, deep: 'true', repair: 'true' };
    assert.deepEqual(await requested({ command: 'verify', ...inputs }), { ...verify, deep: true, repair: true });
    assert.match(await onlyFault({ command: 'republish', suites: 'bookworm', repair: 'true' }), /`command: verify`/);
  });

  it('reads what it is about: remove patterns, components and architectures', async () => {
    const inputs = { remove: 'hello (<< 2.0)\n\nlib*', components: 'main, contrib', architectures: 'source amd64 all' };
    assert.deepEqual(await requested({ command: 'remove', suites: 'bookworm', ...inputs }), {
      command: 'remove',
      suites: [{ suite: 'bookworm' }],
      ...change,
      selection: {
        patterns: [{ name: 'hello', relation: { operator: '<<', version: '2.0' } }, { name: 'lib*' }],
        components: ['main', 'contrib'],
        architectures: ['all', 'amd64', 'source'],
      },
    });
  });

  it('reads what it is about: promote everything unless told what, and where to put it', async () => {
    const all = await requested({ command: 'promote', ...minimal.promote });
    assert.deepEqual(all, {
      command: 'promote',
      suites: [{ suite: 'bookworm' }],
      ...change,
      from: 'testing',
      selection: { patterns: [{ name: '*' }] },
      moves: [],
      onConflict: 'error',
    });
    const inputs = { promote: 'hello', from: 'bookworm', components: 'testing=main', 'on-conflict': 'skip' };
    const moved = await requested({ command: 'promote', suites: 'bookworm', ...inputs });
    assert.deepEqual(moved, {
      ...all,
      from: 'bookworm',
      selection: { patterns: [{ name: 'hello' }], components: ['testing'] },
      moves: [{ from: 'testing', to: 'main' }],
      onConflict: 'skip',
    });
  });

  it('reads what it is about: rollback a generation', async () => {
    const to = { kind: 'number', number: 12 };
    assert.deepEqual(await requested({ command: 'rollback', suites: 'bookworm', to: '12' }), {
      command: 'rollback',
      suites: [{ suite: 'bookworm' }],
      ...change,
      to,
    });
    const moment = await requested({ command: 'rollback', suites: 'bookworm\ntrixie', to: '2026-01-31T12:00:00Z' });
    assert.deepEqual('to' in moment && moment.to, { kind: 'moment', at: Date.UTC(2026, 0, 31, 12) });
  });

  const missing: readonly (readonly [inputs: Readonly<Record<string, string>>, says: RegExp])[] = [
    [
      { command: 'remove', suites: 'bookworm' },
      /`remove` is missing\. Say which packages.*`remove: hello \(<< 2\.0\)`/,
    ],
    [{ command: 'promote', suites: 'bookworm' }, /`from` is missing/],
    [{ command: 'rollback', suites: 'bookworm' }, /`to` is missing\. Say which generation: a number/],
    [{ command: 'republish' }, /`suites` is missing/],
    [
      { command: 'republish', suites: 'bookworm: out/*.deb' },
      /names files \("out\/\*\.deb"\) for the suite "bookworm"/,
    ],
    [
      { command: 'remove', suites: 'bookworm', remove: 'Hello World' },
      /the line "Hello World", which names no packages/,
    ],
    [{ command: 'remove', suites: 'bookworm', remove: 'x', architectures: 'any' }, /"any", which is no architecture/],
    [{ command: 'remove', suites: 'bookworm', remove: 'x', components: 'a=b' }, /more than the name of a component/],
    [{ command: 'promote', ...minimal.promote, components: 'a=.b' }, /part that begins with a dot/],
    [
      { command: 'promote', suites: 'bookworm', from: 'bookworm' },
      /`from` is "bookworm", which is one of `suites` too/,
    ],
    [{ command: 'promote', suites: 'bookworm', from: 'bookworm', components: 'a=b c' }, /one of `suites` too/],
    [{ command: 'promote', suites: 'bookworm', from: '.up' }, /`from` is "\.up", which has a part/],
    [{ command: 'rollback', suites: 'bookworm', to: 'yesterday' }, /"yesterday", which names no generation/],
    [{ command: 'rollback', suites: 'bookworm\ntrixie', to: '12' }, /a generation of one suite, and `suites` names 2/],
  ];
  for (const [inputs, says] of missing) {
    it(`is refused with advice: ${JSON.stringify(inputs)}`, async () => assert.match(await onlyFault(inputs), says));
  }
});

describe('an input that a command passes over', () => {
  const about: Readonly<Record<string, readonly [value: string, ...heedingCommands: CommandName[]]>> = {
    packages: ['out/*.deb', 'publish'],
    component: ['contrib', 'publish'],
    contents: ['true', 'publish'],
    adopt: ['true', 'publish'],
    'keep-versions': ['3', 'publish'],
    'keep-days': ['30', 'publish'],
    'on-conflict': ['skip', 'publish', 'promote', 'import'],
    architectures: ['amd64', 'publish', 'remove', 'promote', 'import'],
    components: ['main', 'remove', 'promote', 'import'],
    remove: ['hello', 'remove'],
    promote: ['hello', 'promote'],
    from: ['testing', 'promote'],
    to: ['12', 'rollback'],
    origin: ['Example', 'publish', 'republish', 'remove', 'promote', 'rollback', 'import'],
    'import-key': ['x', 'import'],
  };
  for (const command of commandNames) {
    it(`is a fault that names it, and its preset is none: \`command: ${command}\``, async () => {
      for (const [name, [value, ...heeding]] of Object.entries(about)) {
        const { faults } = await read({ command, ...minimal[command], [name]: value });
        const unheeded = faults.filter((fault) => fault.includes('means nothing to'));
        assert.equal(unheeded.length, heeding.includes(command) ? 0 : 1, `${name}: ${faults.join('\n')}`);
        for (const fault of unheeded)
          assert.match(fault, new RegExp(`\`${name}\` means nothing to \`command: ${command}\``));
      }
    });
  }
});

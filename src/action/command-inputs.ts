import { type GenerationName, generationGrammar, parseGenerationName } from '../publish/generation-name.ts';
import { type PackagePattern, parsePattern, patternGrammar, type Selection } from '../publish/package-pattern.ts';
import {
  type CommandRequest,
  commandNames,
  onConflicts,
  type PromoteRequest,
  type PublishRequest,
  type VerifyRequest,
} from '../publish/request.ts';
import { readChange, readLimits } from './generation-inputs.ts';
import { refuseUnheeded } from './heeded-inputs.ts';
import { readImport } from './import-inputs.ts';
import { given, type InputReader, quoted } from './input-reader.ts';
import { componentNameFault, parseSuiteName } from './suite-lines.ts';
import { readSuiteNames, readSuites } from './suites.ts';

/**
 * Reads `command` and everything that it heeds. What it cannot do without and what it would pass over in silence are faults alike. Undefined
 * only after a fault.
 */
export async function readRequest(
  reader: InputReader,
  folder: string,
  dryRun: boolean,
  publicUrl: string | undefined,
): Promise<CommandRequest | undefined> {
  const command = reader.choice('command', commandNames) ?? 'publish';
  refuseUnheeded(reader, command);
  if (command === 'publish') return readPublish(reader, folder, dryRun);
  const suites = readSuiteNames(reader, command).map((suite) => ({ suite }));
  if (command === 'history') return { command, suites, ...readLimits(reader) };
  if (command === 'verify') return { command, suites, ...readLimits(reader), ...readVerify(reader, publicUrl) };
  const change = { suites, ...readChange(reader, dryRun) };
  switch (command) {
    case 'republish':
      return { command, ...change };
    case 'remove':
      return { command, ...change, selection: readSelection(reader, 'remove', readComponents(reader)) };
    case 'promote':
      return readPromote(reader, change);
    case 'rollback': {
      const to = readGeneration(reader, suites.length);
      return to && { command, ...change, to };
    }
    case 'import': {
      const components = readComponents(reader);
      const architectures = readArchitectureFilter(reader);
      return readImport(
        reader,
        change,
        given({ components: components.length === 0 ? undefined : components, architectures }),
      );
    }
  }
}

async function readPublish(reader: InputReader, folder: string, dryRun: boolean): Promise<PublishRequest> {
  return {
    command: 'publish',
    suites: await readSuites(reader, folder),
    ...readChange(reader, dryRun),
    adopt: reader.boolean('adopt') ?? false,
    ...given({
      architectures: readArchitectures(reader),
      keepVersions: readKept(
        reader,
        'keep-versions',
        'how many versions of a package stay, for example `keep-versions: 3`',
      ),
      keepDays: readKept(reader, 'keep-days', 'for how many days an older version stays, for example `keep-days: 30`'),
    }),
    contents: reader.boolean('contents') ?? false,
    onConflict: reader.choice('on-conflict', onConflicts) ?? 'error',
  };
}

function readVerify(
  reader: InputReader,
  publicUrl: string | undefined,
): Pick<VerifyRequest, 'deep' | 'repair' | 'publicUrl'> {
  return {
    deep: reader.boolean('deep') ?? false,
    repair: reader.boolean('repair') ?? false,
    // A folder serves nothing: what it holds is what its readers get.
    ...given({ publicUrl: publicUrl?.startsWith('http') === true ? publicUrl : undefined }),
  };
}

function readPromote(
  reader: InputReader,
  change: Omit<PromoteRequest, 'command' | 'from' | 'selection' | 'moves' | 'onConflict'>,
): PromoteRequest | undefined {
  const from = readFrom(reader);
  const words = readComponents(reader);
  const pairs = words.map((word): [string, string] => {
    const [source = '', target = source] = word.split('=');
    return [source, target];
  });
  const moves = pairs.map(([source, to]) => ({ from: source, to })).filter((move) => move.from !== move.to);
  const stays = words.length === 0 || moves.length < words.length;
  if (stays && change.suites.some(({ suite }) => suite === from)) {
    reader.fault('from', {
      what: `is ${quoted(from ?? '')}, which is one of \`suites\` too.`,
      advice: 'Name another suite, or move every component into another one, for example `components: testing=main`.',
    });
  }
  const components = pairs.map(([source]) => source);
  const selection = readSelection(reader, 'promote', components, [{ name: '*' }]);
  const onConflict = reader.choice('on-conflict', onConflicts) ?? 'error';
  return from === undefined ? undefined : { command: 'promote', ...change, from, selection, moves, onConflict };
}

/** Patterns out of the input that is named like its command. `preset` stands for an empty one; without it that is a fault. */
function readSelection(
  reader: InputReader,
  input: 'remove' | 'promote',
  components: readonly string[],
  preset?: readonly PackagePattern[],
): Selection {
  const written = reader.lines(input);
  if (written.length === 0 && preset === undefined) {
    reader.fault(input, {
      what: 'is missing.',
      advice: `Say which packages, one a line: ${patternGrammar}. For example \`${input}: hello (<< 2.0)\`.`,
    });
  }
  const patterns = written.flatMap((line) => {
    const pattern = parsePattern(line);
    if (pattern !== undefined) return [pattern];
    reader.fault(input, {
      what: `has the line ${quoted(line)}, which names no packages.`,
      advice: `Write ${patternGrammar}, for example \`hello (<< 2.0)\`.`,
    });
    return [];
  });
  return {
    patterns: written.length === 0 ? (preset ?? []) : patterns,
    ...given({ components: components.length === 0 ? undefined : components }),
    ...given({ architectures: readArchitectureFilter(reader) }),
  };
}

/** With `=` between two names for a promotion, which may put packages into another component. */
function readComponents(reader: InputReader): string[] {
  const words = reader.words('components');
  const moving = reader.text('command') === 'promote';
  for (const word of words) {
    const names = word.split('=');
    const fault = names.map(componentNameFault).find((each) => each !== undefined);
    if (fault === undefined && names.length <= (moving ? 2 : 1)) continue;
    reader.fault('components', {
      what: `has ${quoted(word)}, which ${fault ?? 'is more than the name of a component'}.`,
      advice: moving ? 'Write names such as `main`, or `testing=main`.' : 'Write names such as `main contrib`.',
    });
  }
  return words;
}

function readFrom(reader: InputReader): string | undefined {
  const written = reader.text('from');
  if (written === undefined) {
    return reader.fault('from', {
      what: 'is missing.',
      advice: 'Name the suite that has the packages, for example `from: testing`.',
    });
  }
  const suite = parseSuiteName(written);
  if (typeof suite === 'string') return suite;
  return reader.fault('from', {
    what: `is ${quoted(written)}, which ${suite.fault}.`,
    advice: 'Write the name of one suite, for example `from: testing`.',
  });
}

function readGeneration(reader: InputReader, suites: number): GenerationName | undefined {
  const written = reader.text('to');
  if (written === undefined) {
    return reader.fault('to', { what: 'is missing.', advice: `Say which generation: ${generationGrammar}.` });
  }
  const name = parseGenerationName(written);
  if (name === undefined) {
    return reader.fault('to', {
      what: `is ${quoted(written)}, which names no generation.`,
      advice: `Write ${generationGrammar}.`,
    });
  }
  if (name.kind === 'moment' || suites < 2) return name;
  return reader.fault('to', {
    what: `is ${quoted(written)}, a generation of one suite, and \`suites\` names ${suites}.`,
    advice: 'Name one suite, or a moment to go back to, for example `2026-01-31T12:00:00Z`.',
  });
}

/** A rule of retention; `says` what its number means. */
function readKept(reader: InputReader, name: 'keep-versions' | 'keep-days', says: string): number | undefined {
  const written = reader.text(name);
  if (written === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(written)) return Number(written);
  return reader.fault(name, {
    what: `is ${quoted(written)}, which is no whole number from 1 up.`,
    advice: `Write ${says}, or remove it.`,
  });
}

/** Sorted, so that the order in which they were written does not change what is published. */
function readArchitectures(reader: InputReader): string[] | undefined {
  const architectures = reader.words('architectures').sort();
  const known = (name: string) => /^[a-z0-9][a-z0-9-]+$/.test(name) && !['all', 'any', 'source'].includes(name);
  for (const name of architectures.filter((written) => !known(written))) {
    reader.fault('architectures', {
      what: `has ${quoted(name)}, which is no architecture that a machine can be of.`,
      advice: 'Write names such as `amd64 arm64`; packages for `all` go into every one of them.',
    });
  }
  return architectures.length === 0 ? undefined : architectures;
}

/** The architectures that a command is about; `all` and `source` are kinds of packages here. */
function readArchitectureFilter(reader: InputReader): string[] | undefined {
  const architectures = reader.words('architectures').sort();
  for (const name of architectures.filter((written) => !/^[a-z0-9][a-z0-9-]+$/.test(written) || written === 'any')) {
    reader.fault('architectures', {
      what: `has ${quoted(name)}, which is no architecture that a package is built for.`,
      advice: 'Write names such as `amd64 arm64 all`, or `source` for source packages.',
    });
  }
  return architectures.length === 0 ? undefined : architectures;
}

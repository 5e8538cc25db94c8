import { Problem } from '../problem.ts';
import { type ScenarioName, scenarioNames } from './comparison-record.ts';

/** What `/apt-perf` asks for. */
export interface Command {
  /** The commit that its author has reviewed, 40 hex digits. */
  readonly reviewed?: string;
  /** How many pairs to make before looking; twelve skips the first look. */
  readonly pairs: 6 | 12;
  /** The first one is judged. */
  readonly scenarios: readonly ScenarioName[];
  readonly endpoint: 'emulator' | 's3';
}

/** What is compared when nothing is said: all but the one that takes minutes. */
const usual: readonly ScenarioName[] = ['incremental', 'cold', 'no-op', 'prune'];

const usage = `/apt-perf [commit] [pairs=6|12] [scenario=${scenarioNames.join('|')}] [endpoint=emulator|s3]`;

/**
 * Reads the first line of a comment: undefined when it is no command at all, so that people can talk about it. Throws the `Problem`
 * `command-unknown` for a word that is none of the grammar: a command that is half understood would measure something else than was asked.
 */
export function parseCommand(body: string): Command | undefined {
  const [line = ''] = body.split(/\r?\n/, 1);
  const [name, ...words] = line.trim().split(/[ \t]+/);
  if (name !== '/apt-perf') return undefined;
  let command: Command = { pairs: 6, scenarios: usual, endpoint: 'emulator' };
  const said = new Set<string>();
  for (const word of words) {
    const [kind = '', part] = readWord(word) ?? [];
    if (part === undefined || said.has(kind)) throw unknownWord();
    said.add(kind);
    command = { ...command, ...part };
  }
  return command;
}

/** What a word sets, and what kind of word it is; each kind may stand once. */
function readWord(word: string): readonly [kind: string, part: Partial<Command>] | undefined {
  if (/^[0-9a-f]{40}$/.test(word)) return ['commit', { reviewed: word }];
  const [key = '', value = ''] = word.split('=', 2);
  if (`${key}=${value}` !== word) return undefined;
  if (key === 'pairs' && (value === '6' || value === '12')) return [key, { pairs: value === '6' ? 6 : 12 }];
  if (key === 'endpoint' && (value === 'emulator' || value === 's3')) return [key, { endpoint: value }];
  const scenario = scenarioNames.find((candidate) => candidate === value);
  return key === 'scenario' && scenario !== undefined ? [key, { scenarios: [scenario] }] : undefined;
}

/** The word itself is not repeated: it may be anything. */
function unknownWord(): Problem {
  return new Problem({
    code: 'command-unknown',
    title: 'The command was not understood',
    what: 'The command has a word that it does not know, or one of a kind twice.',
    advice: `Write ${usage}, the commit with all its 40 digits.`,
  });
}

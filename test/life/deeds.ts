import type { Chance } from '../../src/perf/chance.ts';
import { recordKey } from '../../src/publish/layout.ts';
import { parsePattern } from '../../src/publish/package-pattern.ts';
import type { CommandRequest } from '../../src/publish/request.ts';
import { parseSuiteRecord } from '../../src/publish/suite-record.ts';
import { changeSettings, type Debs, suiteOf } from '../publish/publishing.ts';
import type { Objects } from '../race/object-model.ts';
import type { Publisher } from '../race/publishers.ts';

/** One lies below another, as in Debian. */
export const suites = ['sid', 'stable', 'stable/updates'] as const;
type Suite = (typeof suites)[number];

/** Something that somebody does to the repository. */
export interface Deed {
  /** In a few words, for whoever looks for the step that went wrong. */
  readonly what: string;
  readonly request: Publisher['request'];
  /** Of a publish: file names that its suite must list afterwards. */
  readonly brings?: { readonly suite: Suite; readonly files: readonly string[] };
}

const names = ['apt', 'bash', 'curl', 'dash', 'ed', 'file', 'gawk', 'hello'];

/** Draws what people do to a repository, the same for one seed on every machine. */
export class Deeds {
  readonly #debs: Debs;
  readonly #chance: Chance;
  /** Newest version of each package so far. */
  readonly #versions = new Map<string, number>();
  #files = 0;

  constructor(debs: Debs, chance: Chance) {
    this.#debs = debs;
    this.#chance = chance;
  }

  /** What comes next, in a repository that holds this. */
  next(objects: Objects): Deed {
    const draw = this.#chance();
    const suite = this.pick(suites);
    // What a suite without generations can be asked is to take packages in.
    if (draw < 0.55 || generations(objects, suite).length === 0) return this.#publish(suite);
    if (draw < 0.68 && suite !== 'sid') return this.#promote(suite);
    if (draw < 0.78) return this.#remove(suite);
    if (draw < 0.88) return this.#rollback(suite, generations(objects, suite));
    const what = `republish ${suite}`;
    return { what, request: { command: 'republish', suites: [{ suite }], ...changeSettings } };
  }

  pick<T>(choices: readonly T[]): T {
    const picked = choices[Math.floor(this.#chance() * choices.length)];
    if (picked === undefined) throw new Error('There is nothing to pick from.');
    return picked;
  }

  /** Mostly a new version; now and then the newest one again with other content, a package for all, for another machine, or a source. */
  #publish(suite: Suite): Deed {
    // A file of its own for each: whoever is run once more brings the bytes that it brought before.
    this.#files += 1;
    const name = this.pick(names);
    const again = this.#chance() < 0.15;
    const version = (this.#versions.get(name) ?? 0) + (again && this.#versions.has(name) ? 0 : 1);
    this.#versions.set(name, version);
    const architecture = this.pick(['amd64', 'amd64', 'amd64', 'all', 'arm64']);
    const content = `${version} ${again ? this.#chance() : ''}`;
    const fields = { Package: name, Version: `${version}`, Architecture: architecture };
    const deb = this.#debs.add(`${name}-${this.#files}`, fields, { [`usr/share/${name}`]: content });
    const source = this.#chance() < 0.15 && !again ? [this.#debs.addSource(name, `${version}`)] : [];
    const keepVersions = this.#chance() < 0.3 ? { keepVersions: 2 } : {};
    const request = {
      ...suiteRequest(suite, [deb, ...source]),
      onConflict: 'replace',
      architectures: architecture === 'arm64' ? ['amd64', 'arm64'] : ['amd64'],
      contents: suite === 'sid',
      ...keepVersions,
    } as const;
    // A replaced file has a name of its own.
    const file = again ? `/${name}_${version}_${architecture}` : `/${name}_${version}_${architecture}.deb`;
    return {
      what: `publish ${name} ${version} ${architecture} into ${suite}`,
      request,
      brings: { suite, files: [file] },
    };
  }

  #promote(suite: Suite): Deed {
    const name = this.pick(names);
    const selection = { patterns: patterns(name) };
    const request: CommandRequest = {
      command: 'promote',
      suites: [{ suite }],
      ...changeSettings,
      from: 'sid',
      selection,
      moves: [],
      onConflict: 'replace',
    };
    return { what: `promote ${name} from sid into ${suite}`, request };
  }

  #remove(suite: Suite): Deed {
    const name = this.pick(names);
    const selection = { patterns: patterns(name) };
    return {
      what: `remove ${name} from ${suite}`,
      request: { command: 'remove', suites: [{ suite }], ...changeSettings, selection },
    };
  }

  #rollback(suite: Suite, known: readonly number[]): Deed {
    const number = this.pick(known);
    const to = { kind: 'number', number } as const;
    return {
      what: `rollback ${suite} to ${number}`,
      request: { command: 'rollback', suites: [{ suite }], ...changeSettings, to },
    };
  }
}

function suiteRequest(suite: Suite, paths: readonly string[]) {
  return { suites: [suiteOf(suite, ...paths)] };
}

function patterns(name: string) {
  const pattern = parsePattern(name);
  return pattern === undefined ? [] : [pattern];
}

/** Numbers of the generations that a suite has, newest first. */
export function generations(objects: Objects, suite: string): number[] {
  const object = objects.get(recordKey(suite));
  if (object === undefined) return [];
  const { generation, kept } = parseSuiteRecord(object.body, suite);
  return [generation.number, ...kept.map(({ number }) => number)];
}

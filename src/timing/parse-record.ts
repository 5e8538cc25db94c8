import { Problem } from '../problem.ts';
import type { RunRecord } from './record.ts';
import { objectClasses, outcomes, phaseNames, verbs } from './span.ts';

/**
 * Reads a run record that was written as JSON, by this version or by a hostile one (a perf comparison reads what a pull request's run
 * wrote). The schema is closed: a field too many is refused like a field too few, and so are a span of no phase, a phase or
 * span that ends before it begins, and problems where nothing failed.
 *
 * Throws the `Problem` `run-record-invalid`, naming the first faulty place (`spans[3].verb`).
 */
export function parseRunRecord(json: string): RunRecord {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw invalid('it', 'is not JSON', cause);
  }
  const record = runRecord(value, '');
  checkTimes(record);
  return record;
}

/** Gives back the value with its type, or throws naming the path. */
type Check<T> = (value: unknown, path: string) => T;
type Shape = Readonly<Record<string, Check<unknown>>>;
type Checked<C> = C extends Check<infer T> ? T : never;
type Fields<R extends Shape, O extends Shape> = { [K in keyof R]: Checked<R[K]> } & { [K in keyof O]?: Checked<O[K]> };

const text: Check<string> = (value, path) => {
  if (typeof value !== 'string') throw invalid(path, 'is not text');
  return value;
};

const flag: Check<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw invalid(path, 'is neither true nor false');
  return value;
};

const amount: Check<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw invalid(path, 'is not a number from 0 up');
  return value;
};

const whole: Check<number> = (value, path) => {
  if (!Number.isSafeInteger(value)) throw invalid(path, 'is not a whole number');
  return amount(value, path);
};

const moment: Check<string> = (value, path) => {
  const written = text(value, path);
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
  if (!form.test(written) || Number.isNaN(Date.parse(written))) throw invalid(path, 'is not a moment in ISO 8601, UTC');
  return written;
};

function oneOf<const T extends string>(...allowed: readonly T[]): Check<T> {
  return (value, path) => {
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw invalid(path, `is none of ${allowed.join(', ')}`);
    return found;
  };
}

function list<T>(item: Check<T>): Check<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw invalid(path, 'is not a list');
    return value.map((element, index) => item(element, `${path}[${index}]`));
  };
}

function object<R extends Shape, O extends Shape>(required: R, optional: O): Check<Fields<R, O>> {
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(path, 'is not an object');
    const given = new Map<string, unknown>(Object.entries(value));
    const at = (name: string) => (path === '' ? name : `${path}.${name}`);
    const read: [string, unknown][] = [];
    for (const [name, check] of Object.entries(required)) {
      if (!given.has(name)) throw invalid(at(name), 'is missing');
      read.push([name, check(given.get(name), at(name))]);
    }
    for (const [name, check] of Object.entries(optional)) {
      if (given.has(name)) read.push([name, check(given.get(name), at(name))]);
    }
    const known = new Set(read.map(([name]) => name));
    const unknown = [...given.keys()].find((name) => !known.has(name));
    if (unknown !== undefined) throw invalid(at(unknown), 'is not a field of this schema');
    return Object.fromEntries(read) as Fields<R, O>;
  };
}

const phaseSpan = object(
  { id: whole, name: oneOf(...phaseNames), start: amount, end: amount, outcome: oneOf('ok', 'failed') },
  { suite: text },
);

const requestSpan = object(
  {
    kind: oneOf('request'),
    phase: whole,
    verb: oneOf(...verbs),
    object: oneOf(...objectClasses),
    start: amount,
    end: amount,
    bytesUp: whole,
    bytesDown: whole,
    outcome: oneOf(...outcomes),
  },
  {},
);

const workSpan = object(
  {
    kind: oneOf('work'),
    phase: whole,
    work: oneOf('hash', 'unpack', 'merge', 'compress', 'sign', 'verify'),
    start: amount,
    end: amount,
    bytes: whole,
  },
  {},
);

const span: Check<Checked<typeof requestSpan> | Checked<typeof workSpan>> = (value, path) => {
  const isWork = typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'work';
  return isWork ? workSpan(value, path) : requestSpan(value, path);
};

const packageChange = object(
  {
    change: oneOf('added', 'replaced', 'removed'),
    package: text,
    version: text,
    architecture: text,
    component: text,
    size: whole,
  },
  { reason: oneOf('retention') },
);

const contributor = object({ package: text, amount: whole, unit: oneOf('bytes', 'paths') }, {});
const index = object({ path: text, size: whole }, { previousSize: whole, contributors: list(contributor) });
const omitted = object({ phase: whole, spans: whole, bytesUp: whole, bytesDown: whole }, { verb: oneOf(...verbs) });

const phaseTime = object({ phase: oneOf(...phaseNames), ms: amount }, {});

const suite = object(
  {
    suite: text,
    changed: flag,
    generation: whole,
    packages: list(packageChange),
    indexes: list(index),
  },
  { before: object({ at: moment, durationMs: amount, phases: list(phaseTime) }, {}) },
);

const runRecord: Check<RunRecord> = object(
  {
    schema: oneOf('apt-publish/run/1'),
    started: moment,
    durationMs: amount,
    outcome: oneOf('published', 'unchanged', 'dry-run', 'failed'),
    store: object(
      { kind: oneOf('s3', 'directory', 'memory'), conditions: oneOf('enforced', 'create-only', 'none', 'unknown') },
      {},
    ),
    suites: list(suite),
    phases: list(phaseSpan),
    spans: list(span),
    warnings: list(text),
  },
  {
    hedges: object({ sent: whole, won: whole, wastedBytes: whole }, {}),
    omitted: list(omitted),
    problems: list(object({ code: text, title: text, what: text, advice: text }, {})),
  },
);

function checkTimes(record: RunRecord): void {
  const ids = new Set<number>();
  for (const [index, { id, start, end }] of record.phases.entries()) {
    if (ids.has(id)) throw invalid(`phases[${index}].id`, 'is that of another phase');
    if (end < start) throw invalid(`phases[${index}].end`, 'lies before its start');
    ids.add(id);
  }
  for (const [index, { phase, start, end }] of record.spans.entries()) {
    if (!ids.has(phase)) throw invalid(`spans[${index}].phase`, 'is the id of no phase');
    if (end < start) throw invalid(`spans[${index}].end`, 'lies before its start');
  }
  for (const [index, { phase }] of (record.omitted ?? []).entries()) {
    if (!ids.has(phase)) throw invalid(`omitted[${index}].phase`, 'is the id of no phase');
  }
  const { problems, outcome } = record;
  if (problems === undefined) return;
  if (problems.length === 0) throw invalid('problems', 'is empty');
  if (outcome !== 'failed' && outcome !== 'dry-run') throw invalid('problems', 'goes with no failure');
}

function invalid(path: string, fault: string, cause?: unknown): Problem {
  return new Problem({
    code: 'run-record-invalid',
    title: 'The run record cannot be read',
    what: `In the run record, ${path === '' ? 'the whole' : path} ${fault}.`,
    advice: 'Pass the unchanged file that the output "timings" of the same version of this action names.',
    cause,
  });
}

import type { Runner } from '../../src/action/runner.ts';
import { Secrets } from '../../src/action/secrets.ts';

/** A runner made of two tables. It remembers what was asked of it and what it was told. */
export interface FakeRunner extends Runner {
  readonly asked: ReadonlySet<string>;
  readonly masked: readonly string[];
  /** `error|title|message`, `info|line` …, in order. */
  readonly told: readonly string[];
  readonly outputs: ReadonlyMap<string, string>;
  readonly code: () => number | undefined;
}

export function fakeRunner(
  inputs: Readonly<Record<string, string>> = {},
  variables: Readonly<Record<string, string>> = {},
): FakeRunner {
  const asked = new Set<string>();
  const masked: string[] = [];
  const told: string[] = [];
  const outputs = new Map<string, string>();
  let code: number | undefined;
  return {
    asked,
    masked,
    told,
    outputs,
    code: () => code,
    secrets: new Secrets((secret) => masked.push(secret)),
    input: (name) => {
      asked.add(name);
      return (inputs[name] ?? '').trim();
    },
    variable: (name) => variables[name],
    info: (line) => told.push(`info|${line}`),
    debug: (line) => told.push(`debug|${line}`),
    warning: (message, title) => told.push(`warning|${title}|${message}`),
    error: (message, title) => told.push(`error|${title}|${message}`),
    output: (name, value) => outputs.set(name, value),
    exitCode: (value) => {
      code = value;
    },
  };
}

import * as core from '@actions/core';
import type { InputSource } from './input-reader.ts';
import { Secrets } from './secrets.ts';

/** What this room asks of the runner and says to it. Words for people are cleaned of secrets on their way. */
export interface Runner extends InputSource {
  readonly secrets: Secrets;
  /** A line of the log. */
  info(line: string): void;
  /** A line that only a log with debugging on shows. */
  debug(line: string): void;
  /** A titled annotation that does not fail the step. */
  warning(message: string, title: string): void;
  /** A titled annotation. It does not fail the step by itself: `core.setFailed` would, but knows no titles and prints a second one. */
  error(message: string, title: string): void;
  output(name: string, value: string): void;
  /** Ends the process with this code when it has nothing left to do. */
  exitCode(code: number): void;
}

/** The runner that started this process. Without one (a local run), its commands are lines on standard output. */
export function githubRunner(): Runner {
  const secrets = new Secrets((secret) => core.setSecret(secret));
  const clean = (text: string) => secrets.redact(text);
  return {
    secrets,
    input: (name) => core.getInput(name),
    variable: (name) => process.env[name],
    info: (line) => core.info(clean(line)),
    debug: (line) => core.debug(clean(line)),
    warning: (message, title) => core.warning(clean(message), { title }),
    error: (message, title) => core.error(clean(message), { title }),
    // Never cleaned: an output is for machines, holds no secret, and must not change because a passphrase is an ordinary word.
    output: (name, value) => core.setOutput(name, value),
    exitCode: (code) => {
      process.exitCode = code;
    },
  };
}

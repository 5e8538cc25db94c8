import { throwProblems } from '../problem.ts';
import { type RenameMethod, renameMethods } from '../publish/request.ts';
import { readRequest } from './command-inputs.ts';
import { readDryRun } from './generation-inputs.ts';
import { readOrigin } from './import-inputs.ts';
import { given, InputReader, type InputSource, quoted } from './input-reader.ts';
import { readDryLocation, readLocation } from './location.ts';
import type { Secrets } from './secrets.ts';
import { type CommentSettings, commentOccasions, type Settings } from './settings.ts';
import { readSigning } from './signing-inputs.ts';

/** What reading the inputs needs of the machine. */
export interface InputSurroundings {
  readonly source: InputSource;
  readonly secrets: Secrets;
  /** What globs are relative to: `.` for the workspace, where the runner starts the action. */
  readonly folder: string;
  /** Used when the runner names no folder of its own. */
  readonly temporaryFolder: string;
}

/**
 * Reads all inputs, the environment that stands in for some of them, and the names of the files. Secrets are masked as they are read.
 * Every fault of every input is found; the faults are thrown together, as `Problem` or `Problems`, before anything is used.
 */
export async function readSettings(surroundings: InputSurroundings): Promise<Settings> {
  const reader = new InputReader(surroundings.source, surroundings.secrets);
  const dryRun = readDryRun(reader);
  const publicUrl = readPublicUrl(reader);
  const store = dryRun ? readDryLocation(reader, publicUrl) : readLocation(reader);
  const origin = readOrigin(reader, store);
  const signing = readSigning(reader, dryRun);
  const request = await readRequest(reader, surroundings.folder, dryRun, publicUrl);
  const comment = readComment(reader);
  const site = readSite(reader, publicUrl);
  const renameMethod = readRenameMethod(reader);
  const trace = reader.line('trace');
  const sourceDateEpoch = readSourceDateEpoch(reader);
  throwProblems(reader.faults);
  if (store === undefined || signing === undefined || request === undefined)
    throw new Error('an input is missing, and no fault says so');
  return {
    request,
    store,
    signing,
    ...given({ origin, publicUrl, site, sourceDateEpoch, renameMethod, trace }),
    comment,
    temporaryFolder: reader.variable('RUNNER_TEMP') ?? surroundings.temporaryFolder,
  };
}

function readComment(reader: InputReader): CommentSettings {
  return {
    when: reader.choice('comment', commentOccasions) ?? 'auto',
    ...given({ token: reader.secret('github-token') }),
  };
}

function readRenameMethod(reader: InputReader): RenameMethod | undefined {
  const chosen = reader.choice('rename-method', ['auto', ...renameMethods]);
  return chosen === 'auto' ? undefined : chosen;
}

/** What the pages tell people to type needs the address; `false` says no more than nothing. */
function readSite(reader: InputReader, publicUrl: string | undefined): true | undefined {
  if (reader.boolean('site') !== true) return undefined;
  if (publicUrl !== undefined || reader.text('public-url') !== undefined) return true;
  return reader.fault('site', {
    what: 'is `true`, and nothing says how people reach the repository.',
    advice: 'Write the address as `public-url`, for example `public-url: https://apt.example.org/debian`.',
  });
}

function readPublicUrl(reader: InputReader): string | undefined {
  const written = reader.text('public-url');
  if (written === undefined) return undefined;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const plain =
    url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === '' && !/\s/.test(written);
  if (plain && /^(?:https?|file):$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  return reader.fault('public-url', {
    what: 'is no plain http, https or file address.',
    advice: 'Write the address that apt will read the repository from, for example `https://apt.example.org/debian`.',
  });
}

/** See https://reproducible-builds.org/specs/source-date-epoch/: a malformed value is an error, never the present time. */
function readSourceDateEpoch(reader: InputReader): number | undefined {
  const written = reader.variable('SOURCE_DATE_EPOCH');
  if (written === undefined) return undefined;
  if (/^\d{1,11}$/.test(written)) return Number(written);
  return reader.fault('SOURCE_DATE_EPOCH', {
    what: `is ${quoted(written)}, which is no number of seconds.`,
    advice: 'Write whole seconds since 1970, for example what `git log -1 --format=%ct` prints, or unset it.',
  });
}

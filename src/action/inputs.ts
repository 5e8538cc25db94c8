import { type Form, forms } from '../codec/codecs.ts';
import { throwProblems } from '../problem.ts';
import { onConflicts, type PublishRequest, type ReleaseInfo } from '../publish/request.ts';
import { parseDuration } from './duration.ts';
import { InputReader, type InputSource, quoted } from './input-reader.ts';
import { readLocation } from './location.ts';
import type { Secrets } from './secrets.ts';
import { type CommentSettings, commentOccasions, type Settings } from './settings.ts';
import { readSignedBy, readSigning } from './signing-inputs.ts';
import { readSuites } from './suites.ts';

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
  const store = readLocation(reader);
  const signing = readSigning(reader);
  const request = await readRequest(reader, surroundings.folder);
  const comment = readComment(reader);
  const publicUrl = readPublicUrl(reader);
  const trace = reader.line('trace');
  const sourceDateEpoch = readSourceDateEpoch(reader);
  throwProblems(reader.faults);
  if (store === undefined || signing === undefined) throw new Error('an input is missing, and no fault says so');
  return {
    request,
    store,
    signing,
    ...given({ publicUrl, sourceDateEpoch, trace }),
    comment,
    temporaryFolder: reader.variable('RUNNER_TEMP') ?? surroundings.temporaryFolder,
  };
}

async function readRequest(reader: InputReader, folder: string): Promise<PublishRequest> {
  return {
    suites: await readSuites(reader, folder),
    release: readRelease(reader),
    allowReleaseInfoChange: reader.boolean('allow-release-info-change') ?? false,
    adopt: reader.boolean('adopt') ?? false,
    ...given({ architectures: readArchitectures(reader) }),
    compression: readCompression(reader),
    contents: reader.boolean('contents') ?? false,
    onConflict: reader.choice('on-conflict', onConflicts) ?? 'error',
    renameConcurrency: reader.concurrency('rename-concurrency') ?? 'auto',
    uploadConcurrency: reader.concurrency('upload-concurrency') ?? 'auto',
    requireConditionalWrites: reader.boolean('require-conditional-writes') ?? false,
    dryRun: reader.boolean('dry-run') ?? false,
  };
}

function readRelease(reader: InputReader): ReleaseInfo {
  const notAutomatic = reader.boolean('not-automatic');
  const butAutomaticUpgrades = reader.boolean('but-automatic-upgrades');
  if (butAutomaticUpgrades === true && notAutomatic === false) {
    reader.fault('but-automatic-upgrades', {
      what: 'is `true` while `not-automatic` is `false`, and apt heeds the first only together with the second.',
      advice: 'Write `not-automatic: true` beside it, or remove it.',
    });
  }
  return given({
    origin: reader.line('origin'),
    label: reader.line('label'),
    codename: readCodename(reader),
    description: reader.line('description'),
    version: reader.line('version'),
    validForSeconds: readValidFor(reader),
    notAutomatic,
    butAutomaticUpgrades,
    signedBy: readSignedBy(reader),
  });
}

function readCodename(reader: InputReader): string | undefined {
  const codename = reader.line('codename');
  if (codename === undefined || !/\s/.test(codename)) return codename;
  return reader.fault('codename', {
    what: `is ${quoted(codename)}, which has a blank in it.`,
    advice: 'Write one word, for example `codename: bookworm`.',
  });
}

function readValidFor(reader: InputReader): number | undefined {
  const written = reader.text('valid-for');
  if (written === undefined) return undefined;
  const duration = parseDuration(written);
  return 'seconds' in duration ? duration.seconds : reader.fault('valid-for', duration.fault);
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

function readCompression(reader: InputReader): Form[] {
  const words = reader.words('compression');
  for (const word of words.filter((written) => !forms.some((form) => form === written))) {
    reader.fault('compression', {
      what: `has ${quoted(word)}, which is no form that indexes are stored in.`,
      advice: `Write one or several of ${forms.map((form) => `\`${form}\``).join(', ')}, for example \`compression: gz xz\`.`,
    });
  }
  return words.length === 0 ? ['gz', 'xz'] : forms.filter((form) => words.includes(form));
}

function readComment(reader: InputReader): CommentSettings {
  return {
    when: reader.choice('comment', commentOccasions) ?? 'auto',
    ...given({ token: reader.secret('github-token') }),
  };
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

/** The object without its undefined properties: an optional property is there or not, never there and undefined. */
function given<T extends object>(properties: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(properties).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

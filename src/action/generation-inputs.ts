import { type Form, forms } from '../codec/codecs.ts';
import type { ChangeSettings, CommandSettings, ReleaseInfo } from '../publish/request.ts';
import { parseDuration } from './duration.ts';
import { changing } from './heeded-inputs.ts';
import { given, type InputReader, quoted } from './input-reader.ts';
import { readSignedBy } from './signing-inputs.ts';

/** What every command is told besides its suites. */
export function readLimits(reader: InputReader): Omit<CommandSettings, 'suites'> {
  return {
    renameConcurrency: reader.concurrency('rename-concurrency') ?? 'auto',
    uploadConcurrency: reader.concurrency('upload-concurrency') ?? 'auto',
  };
}

/**
 * `auto` is a dry run on the events that are about a pull request, whose packages are not to be published before it is merged. Commands
 * that make no generation heed no such input.
 */
export function readDryRun(reader: InputReader): boolean {
  const written = reader.text('dry-run') ?? 'auto';
  const chosen = ['auto', 'true', 'false'].find((choice) => choice === written.toLowerCase());
  if (chosen === undefined) {
    reader.fault('dry-run', {
      what: `is ${quoted(written)}, which is none of \`auto\`, \`true\` and \`false\`.`,
      advice: 'Write `dry-run: true` or `dry-run: false`, or remove it: then it is one on pull requests.',
    });
  }
  if (chosen !== 'auto') return chosen === 'true';
  const command = reader.text('command') ?? 'publish';
  if (!changing.some((each) => each === command)) return false;
  return ['pull_request', 'pull_request_target'].includes(reader.variable('GITHUB_EVENT_NAME') ?? '');
}

/** What every command that makes a generation is told besides its suites. */
export function readChange(reader: InputReader, dryRun: boolean): Omit<ChangeSettings, 'suites'> {
  return {
    release: readRelease(reader),
    allowReleaseInfoChange: reader.boolean('allow-release-info-change') ?? false,
    compression: readCompression(reader),
    requireConditionalWrites: reader.boolean('require-conditional-writes') ?? false,
    dryRun,
    ...readLimits(reader),
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

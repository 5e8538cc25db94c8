import type { CommandName } from '../publish/request.ts';
import type { InputReader } from './input-reader.ts';

/** Commands that make a generation. */
export const changing: readonly CommandName[] = ['publish', 'republish', 'remove', 'promote', 'rollback', 'import'];

interface Heeded {
  readonly by: readonly CommandName[];
  /** What the input says where nobody has said anything: action.yml presets it, and that is no fault. */
  readonly preset?: string;
}

/** The inputs that not every command heeds. */
const heeded: Readonly<Record<string, Heeded>> = {
  packages: { by: ['publish'] },
  component: { by: ['publish'], preset: 'main' },
  architectures: { by: ['publish', 'remove', 'promote', 'import'] },
  components: { by: ['remove', 'promote', 'import'] },
  remove: { by: ['remove'] },
  promote: { by: ['promote'] },
  from: { by: ['promote'] },
  to: { by: ['rollback'] },
  import: { by: ['import'] },
  'import-key': { by: ['import'] },
  'import-trusted': { by: ['import'], preset: 'false' },
  adopt: { by: ['publish'], preset: 'false' },
  contents: { by: ['publish'], preset: 'false' },
  'on-conflict': { by: ['publish', 'promote', 'import'], preset: 'error' },
  'keep-versions': { by: ['publish'] },
  'keep-days': { by: ['publish'] },
  deep: { by: ['verify'], preset: 'false' },
  repair: { by: ['verify'], preset: 'false' },
  origin: { by: changing },
  label: { by: changing },
  codename: { by: changing },
  description: { by: changing },
  version: { by: changing },
  'valid-for': { by: changing },
  'not-automatic': { by: changing },
  'but-automatic-upgrades': { by: changing },
  'signed-by': { by: changing },
  'allow-release-info-change': { by: changing, preset: 'false' },
  site: { by: changing, preset: 'false' },
  'dry-run': { by: changing, preset: 'auto' },
};

/** An input that the command passes over is a fault: whoever writes `keep-versions` beside `remove` means something by it. */
export function refuseUnheeded(reader: InputReader, command: CommandName): void {
  for (const [name, { by, preset }] of Object.entries(heeded)) {
    const written = reader.text(name);
    if (written === undefined || written.toLowerCase() === preset || by.includes(command)) continue;
    const [first = 'publish', ...others] = by;
    const commands = others.length === 0 ? `\`command: ${first}\`` : by.map((each) => `\`${each}\``).join(', ');
    reader.fault(name, {
      what: `means nothing to \`command: ${command}\`.`,
      advice: `Remove it, or choose the command that heeds it: ${commands}.`,
    });
  }
}

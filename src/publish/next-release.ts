import { fieldValue, type Stanza } from '../debian/deb822.ts';
import type { Release, ReleaseFile } from '../debian/release.ts';
import { nextDate, parseReleaseDate, releaseDate } from '../debian/release-date.ts';
import { Problem } from '../problem.ts';
import type { BuiltIndex } from './build-indexes.ts';
import { splitForm } from './index-paths.ts';
import type { ReleaseInfo } from './request.ts';

/** The Release of the generation to come. */
export interface NextRelease {
  readonly release: Release;
  /** Milliseconds since the epoch: `Date`, and the time of the signatures. */
  readonly date: number;
  /** How far `date` lies ahead of the clock, milliseconds, because the published one already did. */
  readonly ahead: number;
}

/** Fields whose change stops `apt-get update` of everybody who follows the suite until they agree (apt-secure(8)). */
const pinned = ['Origin', 'Label', 'Codename', 'NotAutomatic', 'ButAutomaticUpgrades'] as const;

/** Fields that follow from the state of the suite or from the time. */
export const computedFields: ReadonlySet<string> = new Set([
  'Date',
  'Valid-Until',
  'Acquire-By-Hash',
  'Architectures',
  'Components',
]);

/**
 * The fields that the user gives, over those that are published. Throws `release-info-change` when a field that clients pin would
 * change without `allowReleaseInfoChange`.
 */
export function releaseFields(input: {
  suite: string;
  published: Release | undefined;
  info: ReleaseInfo;
  allowReleaseInfoChange: boolean;
}): Stanza {
  const { suite, published, info } = input;
  const given: [name: string, value: string | undefined][] = [
    ['Origin', info.origin],
    ['Label', info.label],
    ['Codename', info.codename],
    ['Version', info.version],
    ['Description', info.description],
    ['NotAutomatic', yes(info.notAutomatic)],
    ['ButAutomaticUpgrades', yes(info.butAutomaticUpgrades)],
    ['Signed-By', info.signedBy?.join(',')],
  ];
  const fields = new Map((published?.fields ?? []).map(({ name, value }) => [name, value]));
  for (const [name, value] of given) if (value !== undefined) fields.set(name, value);
  // debootstrap refuses a suite whose name is neither of the two.
  if (!fields.has('Codename')) fields.set('Codename', suite);
  if (!fields.has('Suite') || ![fields.get('Suite'), fields.get('Codename')].includes(suite))
    fields.set('Suite', suite);
  const result = [...fields].map(([name, value]) => ({ name, value }));
  if (published !== undefined && !input.allowReleaseInfoChange) refuseChange(suite, published.fields, result);
  return result;
}

/** The whole Release: fields, Date and Valid-Until, what the suite has, and every index it lists. */
export function nextRelease(input: {
  fields: Stanza;
  published: Release | undefined;
  /** What it lists besides `built`. */
  listed: readonly ReleaseFile[];
  info: ReleaseInfo;
  components: readonly string[];
  architectures: readonly string[];
  built: readonly BuiltIndex[];
  now: number;
}): NextRelease {
  const { published, built } = input;
  const publishedDate = dateField(published, 'Date');
  const { date, ahead } = nextDate({ now: input.now, published: publishedDate });
  const validFor = input.info.validForSeconds ?? publishedValidity(published);
  const computed: [name: string, value: string][] = [
    ['Date', releaseDate(date)],
    // Not earlier than promised: a Valid-Until in the past cuts everybody off.
    ['Valid-Until', validFor === undefined ? '' : releaseDate(date + validFor * 1000)],
    ['Acquire-By-Hash', 'yes'],
    ['Architectures', input.architectures.join(' ')],
    ['Components', input.components.join(' ')],
  ];
  const fields = [
    ...input.fields.filter(({ name }) => !computedFields.has(name)),
    ...computed.map(([name, value]) => ({ name, value })).filter(({ value }) => value !== ''),
  ];
  return { release: { fields, files: listedFiles(input.listed, built) }, date, ahead };
}

/** Indexes that did not change keep their lines; of one that did, only the forms that were written now are listed. */
function listedFiles(listed: readonly ReleaseFile[], built: readonly BuiltIndex[]): ReleaseFile[] {
  const changed = new Set(built.map(({ path }) => path));
  const kept = listed.filter(({ path }) => !changed.has(splitForm(path).index));
  const fresh = built.flatMap(({ path, size, sha256, stored }) => [
    { path, size, sha256 },
    ...stored.map((form) => ({ path: form.path, size: form.bytes.length, sha256: form.sha256 })),
  ]);
  return [...kept, ...fresh].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function yes(flag: boolean | undefined): string | undefined {
  if (flag === undefined) return undefined;
  return flag ? 'yes' : 'no';
}

function dateField(release: Release | undefined, name: string): number | undefined {
  const value = release === undefined ? undefined : fieldValue(release.fields, name);
  return value === undefined ? undefined : parseReleaseDate(value);
}

function publishedValidity(release: Release | undefined): number | undefined {
  const from = dateField(release, 'Date');
  const until = dateField(release, 'Valid-Until');
  return from === undefined || until === undefined ? undefined : Math.round((until - from) / 1000);
}

function refuseChange(suite: string, before: Stanza, after: Stanza): void {
  const comparable = (stanza: Stanza, name: string) => {
    const value = fieldValue(stanza, name) ?? '';
    return name.includes('Automatic') && value === 'no' ? '' : value;
  };
  const changed = pinned.filter((name) => comparable(before, name) !== comparable(after, name));
  if (changed.length === 0) return;
  const list = changed.map((name) => `${name} from "${comparable(before, name)}" to "${comparable(after, name)}"`);
  throw new Problem({
    code: 'release-info-change',
    title: 'A field that clients pin would change',
    what: `Suite ${suite} is live, and this run would change its ${list.join(', ')}: apt-get update then stops for everybody who follows it.`,
    advice:
      'Leave the input out to keep the published value, or set `allow-release-info-change: true` and tell your users.',
  });
}

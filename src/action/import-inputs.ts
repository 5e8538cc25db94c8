import { type ChangeSettings, type ImportRequest, onConflicts } from '../publish/request.ts';
import { given, type InputReader, quoted } from './input-reader.ts';
import { isFolder, readFolder, readPrefix } from './location.ts';
import type { OriginSettings, Settings } from './settings.ts';

/** What `command: import` is told besides what every command is told. */
export function readImport(
  reader: InputReader,
  change: ChangeSettings,
  selection: Pick<ImportRequest, 'components' | 'architectures'>,
): ImportRequest {
  const from = reader.line('import');
  return {
    command: 'import',
    ...change,
    ...selection,
    ...given({ from }),
    onConflict: reader.choice('on-conflict', onConflicts) ?? 'error',
  };
}

/**
 * Where an import reads, and who vouches for it. That has to be said: what this run signs, its users believe. Undefined for other commands
 * and after a fault.
 */
export function readOrigin(reader: InputReader, store: Settings['store'] | undefined): OriginSettings | undefined {
  if (reader.text('command') !== 'import') return undefined;
  const key = reader.text('import-key');
  const isTrusted = reader.boolean('import-trusted') ?? false;
  if ((key === undefined) === !isTrusted) {
    reader.fault('import-key', {
      what: key === undefined ? 'is missing.' : 'is given together with `import-trusted: true`.',
      advice:
        'Give the public key that signs what is imported as `import-key`, or write `import-trusted: true` if you vouch for it yourself.',
    });
  }
  const written = reader.line('import');
  const location = written === undefined ? undefined : readOriginLocation(reader, written, store);
  return given({ location, key });
}

function readOriginLocation(
  reader: InputReader,
  written: string,
  store: Settings['store'] | undefined,
): OriginSettings['location'] {
  if (isFolder(written)) return readFolder(reader, 'import', written);
  if (/^https?:/.test(written)) return readAddress(reader, written);
  const [, bucket, path = ''] = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,62})(?:\/(.*))?$/s.exec(written) ?? [];
  if (bucket === undefined) {
    return reader.fault('import', {
      what: `is ${quoted(written)}, which is neither an address nor a folder.`,
      advice:
        'Write an address such as `https://apt.example.org/debian` or `s3://packages/debian`, or a folder such as `./old`.',
    });
  }
  const prefix = readPrefix(reader, 'import', path);
  if (store === undefined || prefix === undefined) return undefined;
  if (store.kind === 's3') return { ...store, bucket, prefix };
  return reader.fault('import', {
    what: `is ${quoted(written)}, a bucket, and the repository does not lie in a bucket beside it.`,
    advice: 'Copy the bucket into a folder, or give the address that apt reads it from.',
  });
}

function readAddress(reader: InputReader, written: string): OriginSettings['location'] {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === '' && !/\s/.test(written)) {
    return { kind: 'public', url: url.href.replace(/\/+$/, '') };
  }
  return reader.fault('import', {
    what: 'is no plain http or https address.',
    advice:
      'Write the address that apt reads the repository from, without a name or a password: `https://apt.example.org/debian`.',
  });
}

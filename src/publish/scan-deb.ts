import { decompress, decompressStream } from '../codec/codecs.ts';
import { readAr } from '../debian/ar.ts';
import { binaryIdentity, parseControl } from '../debian/control.ts';
import {
  checkFormatVersion,
  controlFile,
  DebLayout,
  InstalledPaths,
  maxControlTarSize,
  maxDataTarSize,
  packageKind,
} from '../debian/deb.ts';
import { fieldValue } from '../debian/deb822.ts';
import type { PhaseScope } from '../timing/recorder.ts';
import { collect, readInput } from './scan-file.ts';
import type { ScannedBinary } from './scanned.ts';

/**
 * Reads a .deb, .udeb or .ddeb once, sequentially: sums, control fields and, when `contents` is wanted, the paths it
 * installs. Holds a few chunks, the unpacked control.tar and the paths, never the package. data.tar is unpacked only for
 * the paths; without them its bytes are hashed and passed over.
 *
 * Throws what `readInput`, `readAr`, `DebLayout`, `controlFile`, `InstalledPaths`, the codecs, `parseControl` and
 * `binaryIdentity` throw, each naming `path`.
 */
export async function scanDeb(
  path: string,
  extension: ScannedBinary['kind'],
  contents: boolean,
  scope: PhaseScope,
): Promise<ScannedBinary> {
  const { file, result } = await readInput(path, scope, 'unpack', (chunks, size) =>
    unpackDeb(chunks, size, contents, path),
  );
  const control = parseControl(result.control, path);
  const identity = binaryIdentity(control, path);
  return {
    kind: packageKind(extension, fieldValue(control, 'Package-Type'), path),
    file,
    package: identity.package,
    version: identity.version,
    architecture: identity.architecture,
    source: identity.source,
    control,
    ...(result.paths === undefined ? {} : { contents: result.paths }),
  };
}

interface Unpacked {
  readonly control: Uint8Array;
  readonly paths?: readonly string[];
}

async function unpackDeb(
  chunks: AsyncIterable<Uint8Array>,
  size: number,
  contents: boolean,
  origin: string,
): Promise<Unpacked> {
  const layout = new DebLayout(origin);
  let control: Uint8Array = new Uint8Array(0);
  let paths: readonly string[] | undefined;
  for await (const { name, size: packedSize, body } of readAr(chunks, size, origin)) {
    const member = layout.member(name, packedSize);
    const memberOrigin = `${origin}: ${name}`;
    if (member.role === 'format') {
      checkFormatVersion(await collect(body), origin);
    } else if (member.role === 'control') {
      const packed = await collect(body);
      control = controlFile(await decompress(member.compression, packed, maxControlTarSize, memberOrigin), origin);
    } else if (member.role === 'data' && contents) {
      const installed = new InstalledPaths(origin);
      const limit = maxDataTarSize(packedSize);
      for await (const chunk of decompressStream(member.compression, body, limit, memberOrigin)) installed.push(chunk);
      paths = installed.end();
    }
  }
  layout.end();
  return paths === undefined ? { control } : { control, paths };
}

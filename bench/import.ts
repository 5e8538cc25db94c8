/**
 * Imports a synthetic repository of tiny packages over http into an S3 server and into a directory, and again as after a run that was cut
 * short just before its claim. Prints time, requests and peak memory, in all and by package.
 *
 *     node bench/import.ts [--dist FOLDER] [PACKAGES …]      10000 and 100000 unless given; --dist: a build that is there already
 */
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { closeServer, listenLocally } from '../test/rig/listener.ts';
import { rigCredentials, startS3Server } from '../test/rig/s3-server.ts';
import { openLaboratory } from './laboratory.ts';
import { type Inputs, runAction } from './our-action.ts';

const suite = 'bench';
const list = `dists/${suite}/main/binary-amd64/Packages`;

/** What stands in the pool under a name; nothing looks into a package that is imported. */
function contentOf(name: string): Buffer {
  return Buffer.from(`${createHash('sha512').update(name).digest('hex')}\n`.repeat(8));
}

function nameOf(number: number): string {
  return `package-${String(number).padStart(6, '0')}`;
}

function keyOf(name: string): string {
  return `pool/main/${name.slice(-2)}/${name}/${name}_1.0_amd64.deb`;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The indexes of a repository of so many packages, by key. */
function indexesOf(count: number): Map<string, Buffer> {
  const stanzas = Array.from({ length: count }, (_, number) => {
    const name = nameOf(number);
    const content = contentOf(name);
    return `Package: ${name}
Version: 1.0
Architecture: amd64
Maintainer: Ada Example <ada@example.org>
Installed-Size: ${number % 9000}
Depends: libc6 (>= 2.36), ${nameOf((number * 7919) % count)}
Section: utils
Priority: optional
Filename: ${keyOf(name)}
Size: ${content.length}
SHA256: ${sha256(content)}
Description: synthetic package number ${number}
 It has a description of two lines, like many a real one, and a number that is
 nowhere else: ${createHash('md5').update(name).digest('hex')}.

`;
  });
  const plain = Buffer.from(stanzas.join(''));
  const packed = gzipSync(plain);
  const line = (path: string, bytes: Uint8Array) => ` ${sha256(bytes)} ${bytes.length} ${path}\n`;
  const sums = line('main/binary-amd64/Packages', plain) + line('main/binary-amd64/Packages.gz', packed);
  const release = `Origin: Bench\nSuite: ${suite}\nCodename: ${suite}\nArchitectures: amd64\nComponents: main\nSHA256:\n${sums}`;
  return new Map([
    [`dists/${suite}/Release`, Buffer.from(release)],
    [`${list}.gz`, packed],
  ]);
}

/** A web server that has the repository without keeping a package. */
async function serve(count: number): Promise<AsyncDisposable & { readonly url: string }> {
  const indexes = indexesOf(count);
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const key = decodeURIComponent(request.url ?? '').slice(1);
    const [, name] = /^pool\/.*\/([^/_]+)_1\.0_amd64\.deb$/.exec(key) ?? [];
    const body = indexes.get(key) ?? (name === undefined ? undefined : contentOf(name));
    response.writeHead(body === undefined ? 404 : 200, { 'content-length': body?.length ?? 0 }).end(body);
  });
  const url = await listenLocally(server);
  return { url, [Symbol.asyncDispose]: () => closeServer(server) };
}

async function main(counts: readonly number[], dist: string | undefined): Promise<void> {
  await using laboratory = await openLaboratory({
    profiles: undefined,
    dist,
    log: (line) => console.log(line),
  });
  const importInto = async (what: string, count: number, url: string, inputs: Inputs) => {
    const common = { command: 'import', suites: suite, import: url, 'import-trusted': 'true' };
    const { ms, cpuMs, peakBytes, record } = await runAction(laboratory, { ...common, ...inputs });
    const spans = record.spans.length + (record.omitted ?? []).reduce((sum, each) => sum + each.spans, 0);
    const phases = record.phases.filter(({ start, end }) => end - start >= 100);
    const told = phases.map(({ name, start, end }) => `${name} ${((end - start) / 1000).toFixed(1)} s`).join(', ');
    console.log(
      `${count} packages, ${what}: ${(ms / 1000).toFixed(1)} s (${(ms / count).toFixed(2)} ms each), CPU ${(cpuMs / 1000).toFixed(1)} s (${(cpuMs / count).toFixed(2)} ms each), ${spans} requests and pieces of work, peak ${Math.round(peakBytes / 2 ** 20)} MiB; ${told}`,
    );
  };
  for (const count of counts) {
    await using source = await serve(count);
    await using server = await startS3Server();
    const { accessKeyId, secretAccessKey } = rigCredentials;
    const keys = { 'access-key-id': accessKeyId, 'secret-access-key': secretAccessKey };
    const bucket = { bucket: 'apt', endpoint: server.endpoint, ...keys };
    await importInto('into a bucket', count, source.url, bucket);
    const objects = server.objects('apt');
    for (const key of [...objects.keys()]) if (!key.startsWith('pool/')) objects.remove(key);
    await importInto('into a bucket that has the pool already', count, source.url, bucket);
    const folder = join(laboratory.folder, `site-${count}`);
    await importInto('into a directory', count, source.url, { bucket: folder });
    for (const name of (await readdir(folder)).filter((each) => each !== 'pool')) {
      await rm(join(folder, name), { recursive: true });
    }
    await importInto('into a directory that has the pool already', count, source.url, { bucket: folder });
    await rm(folder, { recursive: true });
  }
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { dist: { type: 'string' } } });
await main(positionals.length === 0 ? [10_000, 100_000] : positionals.map(Number), values.dist);

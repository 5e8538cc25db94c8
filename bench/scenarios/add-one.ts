import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { openFtpArchive } from '../apt-ftparchive.ts';
import { openAptly } from '../aptly.ts';
import { contentsText, debianContents, debianMain, resized, type Stanza, writeTinyDebs } from '../debian-main.ts';
import { openBucket } from '../laboratory.ts';
import { type Line, startLine } from '../line.ts';
import { type Row, ratio, type Side } from '../measurement.ts';
import { openReprepro } from '../reprepro.ts';
import { sampleOf } from '../request-log.ts';
import { writeSmallDeb } from '../sample-debs.ts';
import { allIn, type Bench, farMs, ourSide, prepareOurs, rowNamed, type Scenario } from '../scenario.ts';
import { seedSuite } from '../seed-suite.ts';

const suite = 'bench';
const list = 'main/binary-amd64/Packages';
const rowNames = {
  ours: 'ours, S3',
  aptly: 'aptly publish update, S3',
  reprepro: 'reprepro includedeb, local disk',
  ftparchive: 'apt-ftparchive generate, local disk',
};

/** The parts are `1000`, `1000+contents`, `10000` …; those of Debian's own size are called `63000`. */
export const addOne: Scenario = {
  about: `one package into a suite that holds Debian main; S3 stores are ${farMs} ms away each way, reprepro and apt-ftparchive have a local disk`,
  measure: async (bench) => {
    const main = await debianMain();
    const suites = [1000, 10_000, 63_000, 100_000].map((size) => ({
      size,
      stanzas: resized(main, size === 63_000 ? bench.size(main.length, 600) : bench.size(size, size / 100)),
    }));
    const parts = [false, true].flatMap((contents) =>
      suites.map(({ size, stanzas }) => ({ name: `${size}${contents ? '+contents' : ''}`, stanzas, contents })),
    );
    const measured: { readonly part: string; readonly rows: readonly Row[] }[] = [];
    for (const part of parts) {
      if (bench.wants(part.name)) measured.push({ part: part.name, rows: await measurePart(bench, part) });
    }
    const ours = (part: string) =>
      measured.filter((each) => each.part === part).map(({ rows }) => rowNamed(rows, rowNames.ours));
    const growth = ['', '+contents'].flatMap((suffix) => {
      const [[small], [large]] = [ours(`1000${suffix}`), ours(`100000${suffix}`)];
      return small === undefined || large === undefined
        ? []
        : [
            [`wall growth 1000 to 100000${suffix}`, ratio(large.medianMs, small.medianMs)] as const,
            [`cpu growth 1000 to 100000${suffix}`, ratio(large.cpuMs, small.cpuMs)] as const,
          ];
    });
    return {
      rows: measured.flatMap(({ part, rows }) => rows.map((row) => ({ ...row, what: `${part}: ${row.what}` }))),
      ratios: Object.fromEntries([...measured.flatMap(({ part, rows }) => ratiosOf(part, rows)), ...growth]),
    };
  },
};

interface Part {
  readonly name: string;
  readonly stanzas: readonly Stanza[];
  readonly contents: boolean;
}

async function measurePart(bench: Bench, { name, stanzas, contents }: Part): Promise<Row[]> {
  const { laboratory } = bench;
  const { folder, log } = laboratory;
  await using bucket = await openBucket();
  await using line = await startLine(bucket.endpoint, { delayMs: farMs });
  log(`${name}: preparing ${stanzas.length} packages`);
  const files = contents ? await debianContents(folder, stanzas) : undefined;
  const incoming = (round: number) => join(folder, `${name}-round-${round}`);
  const next = (round: number) => writeSmallDeb(incoming(round), `zz-next-${round}`);
  const debs = join(folder, `${name}-debs`);
  await writeTinyDebs(debs, stanzas, files);

  const indexes = new Map([
    [list, Buffer.from(stanzas.map(({ text }) => `${text}\n\n`).join(''))],
    ...(files === undefined ? [] : [['main/Contents-amd64', contentsText(stanzas, files)] as const]),
  ]);
  await seedSuite(bucket.store('ours'), suite, indexes);
  const common = { suites: suite, architectures: 'amd64', contents: String(contents), compression: 'gz xz' };
  await writeSmallDeb(join(folder, `${name}-adopted`), 'zz-adopted');
  const adopting = { ...common, packages: allIn(join(folder, `${name}-adopted`)), adopt: 'true' };
  await prepareOurs(bench, bucket, 'ours', adopting);
  const inputs = (round: number) => ({ ...common, packages: allIn(incoming(round)) });
  const ours = ourSide(bench, { what: rowNames.ours, bucket, prefix: 'ours', line, inputs });

  log(`${name}: filling aptly, reprepro and apt-ftparchive`);
  const aptly = await openAptly(laboratory, { name, bucket, contents });
  await aptly.createRepository(suite);
  await aptly.add(suite, debs);
  await aptly.publish(suite);
  await aptly.reach(line.endpoint);
  const reprepro = await openReprepro(laboratory, name, contents);
  await reprepro.fill(debs);
  const ftparchive = await openFtpArchive(laboratory, name, contents);
  await ftparchive.fill(debs);
  await rm(debs, { recursive: true });

  const sides: Side[] = [
    { what: rowNames.ours, run: async (round) => next(round).then(() => ours.run(round)) },
    { what: rowNames.aptly, run: async (round) => aptlyRun(line, aptly, await next(round)) },
    { what: rowNames.reprepro, run: async (round) => sampleOf(await reprepro.include(await next(round)), []) },
    { what: rowNames.ftparchive, run: async (round) => sampleOf(await ftparchive.include(await next(round)), []) },
  ];
  const slow = stanzas.length > (contents ? 5000 : 50_000);
  const rows = await bench.compare(sides, slow ? 'slow' : undefined);
  const stored = async (prefix: string) => {
    const object = await bucket.store(prefix).get(`dists/${suite}/${list}.gz`);
    return object.found ? object.body : Buffer.alloc(0);
  };
  requireWhole(rowNames.ours, await stored('ours'), stanzas.length);
  requireWhole(rowNames.aptly, await stored(`aptly-${name}`), stanzas.length);
  // It keeps one version of a package.
  const names = new Set(stanzas.map((stanza) => stanza.name));
  requireWhole(rowNames.reprepro, await reprepro.read(`${list}.gz`), names.size);
  requireWhole(rowNames.ftparchive, await ftparchive.read(`${list}.gz`), stanzas.length);
  return rows;
}

/** All sides must have written a list of the whole suite and more, or what they took means nothing. */
function requireWhole(what: string, gzipped: Uint8Array, count: number): void {
  const text = gzipped.length === 0 ? '' : gunzipSync(gzipped).toString('latin1');
  const found = text.match(/^Package:/gm)?.length ?? 0;
  if (found <= count) throw new Error(`${what}: the list has ${found} packages in place of more than ${count}.`);
}

async function aptlyRun(line: Line, aptly: Awaited<ReturnType<typeof openAptly>>, deb: string) {
  await aptly.add(suite, deb);
  line.take();
  return sampleOf(await aptly.update(suite), line.take());
}

function ratiosOf(part: string, rows: readonly Row[]): [string, number][] {
  const ours = rowNamed(rows, rowNames.ours);
  const against = (peer: Row, name: string): [string, number][] => [
    [`oursTo${name} ${part}`, ratio(ours.medianMs, peer.medianMs)],
    [`oursTo${name}Cpu ${part}`, ratio(ours.cpuMs, peer.cpuMs)],
  ];
  return [
    ...against(rowNamed(rows, rowNames.aptly), 'Aptly'),
    ...against(rowNamed(rows, rowNames.reprepro), 'Reprepro'),
    ...against(rowNamed(rows, rowNames.ftparchive), 'FtpArchive'),
  ];
}

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, PutBucketPolicyCommand, S3Client } from '@aws-sdk/client-s3';
import { cephConfiguration } from './ceph-configuration.ts';
import { type RunningProcess, runSuccessfully, skipWithout, startProcess } from './process.ts';
import type { S3Credentials } from './s3-signature.ts';
import { temporaryFolder } from './temporary.ts';

/** False when Debian's Ceph is installed, else the reason to skip: for a test's `skip`. */
export function cephMissing(): string | false {
  return skipWithout('ceph-mon', 'ceph-osd', 'radosgw', 'ceph-authtool', 'monmaptool', 'radosgw-admin', 'ceph');
}

export interface Ceph extends AsyncDisposable {
  readonly endpoint: string;
  readonly credentials: S3Credentials;
  /** Milliseconds that it took to start. */
  readonly startMs: number;
  /** Creates a bucket in which everything below `publicPrefix` (if given) may be read by everybody; returns its URL. */
  createBucket(name: string, publicPrefix?: string): Promise<string>;
}

/**
 * A real, single-node Ceph with its S3 gateway on a free port of 127.0.0.1: about 5 s in memory (`memstore`, which needs
 * memory for all objects) and 10 s on disk (`bluestore`). Its processes run in the foreground and end when it is disposed of.
 */
export async function startCeph(backing: 'memstore' | 'bluestore' = 'memstore'): Promise<Ceph> {
  const began = performance.now();
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder());
  const [gatewayPort = 0, v1 = 0, v2 = 0] = await freePorts(3);
  const fsid = randomUUID();
  const layout = { folder, fsid, backing, gatewayPort, monitorPorts: { v1, v2 } };
  for (const name of ['mon', 'osd', 'run', 'log', 'rgw']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'ceph.conf'), cephConfiguration(layout));
  const env = { ...process.env, CEPH_CONF: join(folder, 'ceph.conf') };
  const run = (command: string, ...args: string[]): Promise<Buffer> => runSuccessfully(command, args, { env });
  const start = async (command: string, ...args: string[]): Promise<RunningProcess> =>
    stack.use(await startProcess(command, args, { env }));

  const keyring = join(folder, 'keyring');
  const monmap = join(folder, 'monmap');
  await makeKeyring(run, keyring);
  await run('monmaptool', '--create', '--fsid', fsid, '--addv', 'a', `[v2:127.0.0.1:${v2},v1:127.0.0.1:${v1}]`, monmap);
  await run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', monmap, '--keyring', keyring);
  await start('ceph-mon', '-f', '-i', 'a');
  const osd = randomUUID();
  await run('ceph', '--connect-timeout', '20', 'osd', 'new', osd);
  await run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', osd);
  await start('ceph-osd', '-f', '-i', '0');
  const gateway = await start('radosgw', '-f', '-n', 'client.rgw');
  await listening(gateway, gatewayPort);
  const credentials = { accessKeyId: 'CEPHACCESSKEY', secretAccessKey: randomBytes(15).toString('base64') };
  const keys = ['--access-key', credentials.accessKeyId, '--secret-key', credentials.secretAccessKey];
  await run('radosgw-admin', '-n', 'client.rgw', 'user', 'create', '--uid=rig', '--display-name=rig', ...keys);

  const endpoint = `http://127.0.0.1:${gatewayPort}`;
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  stack.defer(() => client.destroy());
  const running = stack.move();
  return {
    endpoint,
    credentials,
    startMs: performance.now() - began,
    createBucket: (name, publicPrefix) => createBucket(client, endpoint, name, publicPrefix),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function makeKeyring(
  run: (command: string, ...args: string[]) => Promise<Buffer>,
  keyring: string,
): Promise<void> {
  const add = (name: string, ...caps: string[]): Promise<Buffer> =>
    run('ceph-authtool', keyring, '--gen-key', '-n', name, ...caps);
  await run('ceph-authtool', '--create-keyring', keyring, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *');
  await add('client.admin', '--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *', '--cap', 'mgr', 'allow *');
  await add('client.rgw', '--cap', 'mon', 'allow rw', '--cap', 'osd', 'allow rwx');
  await add('osd.0', '--cap', 'mon', 'allow profile osd', '--cap', 'osd', 'allow *');
}

async function createBucket(client: S3Client, endpoint: string, name: string, publicPrefix?: string): Promise<string> {
  await client.send(new CreateBucketCommand({ Bucket: name }));
  if (publicPrefix !== undefined) {
    const below = publicPrefix === '' ? '' : `${publicPrefix}/`;
    const Statement = [
      { Effect: 'Allow', Principal: '*', Action: ['s3:GetObject'], Resource: [`arn:aws:s3:::${name}/${below}*`] },
    ];
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    await client.send(new PutBucketPolicyCommand({ Bucket: name, Policy }));
  }
  return `${endpoint}/${name}`;
}

/** Resolves when something accepts connections there; throws when the process ends first or 60 s pass. */
async function listening(server: RunningProcess, port: number): Promise<void> {
  let ended = false;
  void server.finished.then(() => {
    ended = true;
  });
  for (const limit = performance.now() + 60_000; performance.now() < limit && !ended; await sleep(50)) {
    const accepted = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (accepted) return;
  }
  throw new Error(`radosgw does not listen: ${server.output().stderr}`);
}

/** Ports that are free now, all different; the servers that will have them cannot be given port 0. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  const ports = await Promise.all(
    servers.map(async (server) => {
      if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : 0;
    }),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

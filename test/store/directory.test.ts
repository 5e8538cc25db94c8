import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DirectoryStore } from '../../src/store/directory.ts';
import { directoryError } from '../../src/store/directory-errors.ts';
import { lockName, unfinishedPrefix } from '../../src/store/directory-tree.ts';
import { listed } from '../../src/store/object-store.ts';
import { startProcess } from '../rig/process.ts';
import { type TemporaryFolder, temporaryFolder } from '../rig/temporary.ts';
import { realClock } from './clocks.ts';

const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' } as const;
const body = Buffer.from('body');
const writerScript = join(import.meta.dirname, 'directory-writer.ts');

interface Opened extends AsyncDisposable {
  readonly root: string;
  readonly store: DirectoryStore;
  readonly folder: TemporaryFolder;
}

async function open(): Promise<Opened> {
  const folder = await temporaryFolder();
  const root = join(folder.path, 'site');
  await mkdir(root);
  const store = new DirectoryStore({ root, clock: realClock, writer: 'test' });
  return { root, store, folder, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

async function keys(store: DirectoryStore, prefix = ''): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of listed(store, prefix)) found.push(key);
  return found.sort();
}

async function counter(store: DirectoryStore): Promise<number> {
  const now = await store.get('dir/counter');
  assert.ok(now.found);
  return Number(Buffer.from(now.body).toString());
}

describe('keys cannot leave the directory', () => {
  const outside = [
    '../x',
    'a/../../x',
    '/etc/passwd',
    'a//b',
    'a/./b',
    '',
    'a/',
    'a\0b',
    lockName,
    `${lockName}-journal`,
    `a/${unfinishedPrefix}1`,
  ];
  for (const key of outside) {
    test(`${JSON.stringify(key)} is refused for reading, writing, copying and deleting`, async () => {
      await using opened = await open();
      const { store } = opened;
      const refused = { name: 'Problem', code: 'store-key-refused' };
      await assert.rejects(store.get(key), refused);
      await assert.rejects(store.head(key), refused);
      await assert.rejects(store.put(key, body, attributes), refused);
      await assert.rejects(store.copy(key, 'b', attributes), refused);
      await assert.rejects(store.delete([key]), refused);
      await assert.rejects(store.startUpload(key, attributes), refused);
    });
  }

  test('a symbolic link out of the directory is refused, as a folder and as a file', async () => {
    await using opened = await open();
    const { store, root, folder } = opened;
    await mkdir(join(folder.path, 'elsewhere'));
    await writeFile(join(folder.path, 'elsewhere', 'secret'), 'secret');
    await symlink('../elsewhere', join(root, 'pool'));
    await symlink('../elsewhere/secret', join(root, 'link'));
    const refused = { name: 'Problem', code: 'store-outside' };
    await assert.rejects(store.get('pool/secret'), refused);
    await assert.rejects(store.get('link'), refused);
    await assert.rejects(store.put('pool/new', body, attributes), refused);
    await assert.rejects(store.put('pool/deep/new', body, attributes), refused);
    await assert.rejects(store.delete(['pool/secret']), refused);
    assert.deepEqual(await readdir(join(folder.path, 'elsewhere')), ['secret']);
    assert.deepEqual(await keys(store), []);
    assert.deepEqual(await keys(store, 'pool/'), []);
  });

  test('a symbolic link inside is followed for reading and writing, and listed once', async () => {
    await using opened = await open();
    const { store, root } = opened;
    await store.put('dists/bookworm/Release', body, attributes);
    await symlink('bookworm', join(root, 'dists', 'stable'));
    assert.equal((await store.get('dists/stable/Release')).found, true);
    await store.put('dists/stable/InRelease', body, attributes);
    assert.deepEqual(await keys(store), ['dists/bookworm/InRelease', 'dists/bookworm/Release']);
  });

  test('the directory itself may be a symbolic link', async () => {
    await using opened = await open();
    const root = join(opened.folder.path, 'link');
    await symlink('site', root);
    const store = new DirectoryStore({ root, clock: realClock, writer: 'test' });
    await store.put('a/b', body, attributes);
    assert.equal((await opened.store.get('a/b')).found, true);
  });
});

describe('unfinished writes', () => {
  test('are never listed, and those of killed writers are removed after a day', async () => {
    await using opened = await open();
    const { store, root } = opened;
    await store.put('pool/a', body, attributes);
    await writeFile(join(root, 'pool', `${unfinishedPrefix}old`), 'x');
    await writeFile(join(root, 'pool', `${unfinishedPrefix}young`), 'x');
    const twoDaysAgo = new Date(Date.now() - 48 * 3600 * 1000);
    await utimes(join(root, 'pool', `${unfinishedPrefix}old`), twoDaysAgo, twoDaysAgo);
    assert.deepEqual(await keys(store), ['pool/a']);
    assert.deepEqual((await readdir(join(root, 'pool'))).sort(), [`${unfinishedPrefix}young`, 'a']);
  });

  test('of the same name do not stop a writer', async () => {
    await using opened = await open();
    await writeFile(join(opened.root, `${unfinishedPrefix}test-1`), 'of a killed process with our pid');
    await opened.store.put('a', body, attributes);
    assert.equal((await opened.store.get('a')).found, true);
  });

  test('leave nothing behind, whether they win, lose or fail', async () => {
    await using opened = await open();
    const { store, root } = opened;
    await store.put('a', body, attributes);
    await store.put('a', body, { ...attributes, condition: { absent: true } });
    await store.put('a', body, { ...attributes, condition: { etag: 'stale' } });
    await mkdir(join(root, 'folder'));
    await assert.rejects(store.put('folder', body, attributes), { code: 'store-name-taken' });
    await assert.rejects(store.put('a/b', body, attributes), { code: 'store-name-taken' });
    assert.deepEqual((await readdir(root)).sort(), [lockName, 'a', 'folder'].sort());
  });
});

test('a file is readable for the web server as the umask says, and holds exactly the bytes', async () => {
  await using opened = await open();
  await opened.store.put('a/b', body, attributes);
  assert.deepEqual(await readFile(join(opened.root, 'a', 'b')), body);
});

test('a folder is no object, and a directory that does not exist is empty', async () => {
  await using opened = await open();
  await opened.store.put('a/b', body, attributes);
  assert.deepEqual(await opened.store.get('a'), { found: false });
  assert.deepEqual(await opened.store.get('a/b/c'), { found: false });
  const missing = new DirectoryStore({ root: join(opened.root, 'missing'), clock: realClock, writer: 'test' });
  assert.deepEqual(await missing.get('a'), { found: false });
  assert.deepEqual(await keys(missing), []);
  await missing.delete(['a']);
});

const root = process.getuid?.() === 0 ? 'root may write everywhere' : false;
test('a directory that may not be written is a problem with advice', { skip: root }, async () => {
  await using opened = await open();
  await chmod(opened.root, 0o500);
  await assert.rejects(opened.store.put('a', body, attributes), { code: 'store-access-denied' });
});

test('what the system says becomes a problem, or an error that may pass', () => {
  const system = (code: string) => directoryError(Object.assign(new Error(code), { code }), 'to write a');
  const codes = {
    EACCES: 'store-access-denied',
    EROFS: 'store-access-denied',
    ENOSPC: 'store-full',
    EIO: 'store-refused',
  };
  for (const [code, expected] of Object.entries(codes))
    assert.equal((system(code) as { code?: string }).code, expected);
  assert.equal((system('EMFILE') as Error).name, 'TransientStoreError');
  const defect = new TypeError('x is not a function');
  assert.equal(directoryError(defect, 'to write a'), defect);
});

describe('compare-and-swap between processes', () => {
  test('four processes that add one fifty times each lose nothing', async () => {
    await using opened = await open();
    await opened.store.put('dir/counter', Buffer.from('0'), attributes);
    await using stack = new AsyncDisposableStack();
    const writers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => startProcess(process.execPath, [writerScript, opened.root, name, '50'])),
    );
    for (const writer of writers) stack.use(writer);
    const ends = await Promise.all(writers.map(({ finished }) => finished));
    assert.deepEqual(
      ends.map(({ code, stderr }) => [code, stderr]),
      Array.from({ length: 4 }, () => [0, '']),
    );
    const written = ends.flatMap(({ stdout }) => stdout.toString().trim().split('\n').map(Number));
    assert.deepEqual(
      written.sort((a, b) => a - b),
      Array.from({ length: 200 }, (_, index) => index + 1),
    );
    assert.equal(await counter(opened.store), 200);
  });

  test('writers that are killed lose no acknowledged write, let no two win, and stop nobody', async () => {
    await using opened = await open();
    await opened.store.put('dir/counter', Buffer.from('0'), attributes);
    const acknowledged: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await using stack = new AsyncDisposableStack();
      const writers = await Promise.all(
        ['a', 'b', 'c'].map((name) => startProcess(process.execPath, [writerScript, opened.root, name, '100000'])),
      );
      for (const writer of writers) stack.use(writer);
      const before = await counter(opened.store);
      while ((await counter(opened.store)) < before + 20) await realClock.sleep(3);
      for (const writer of writers) {
        writer.signal('SIGKILL');
        await realClock.sleep(7);
      }
      const ends = await Promise.all(writers.map(({ finished }) => finished));
      assert.deepEqual(
        ends.map(({ signal, stderr }) => [signal, stderr]),
        ends.map(() => ['SIGKILL', '']),
      );
      acknowledged.push(
        ...ends.flatMap(({ stdout }) => stdout.toString().trim().split('\n').filter(Boolean).map(Number)),
      );
    }
    assert.equal(new Set(acknowledged).size, acknowledged.length);
    const final = await counter(opened.store);
    assert.ok(final >= Math.max(...acknowledged));
    // What was written and not acknowledged: one write for each that was killed.
    assert.ok(final - acknowledged.length <= 9, `${final} written, ${acknowledged.length} acknowledged`);
    const now = await opened.store.get('dir/counter');
    assert.ok(now.found);
    const after = await opened.store.put('dir/counter', body, { ...attributes, condition: { etag: now.etag } });
    assert.equal(after.written, true);
  });

  test('a writer waits for the holder of the lock, and goes on when the holder is killed', async () => {
    await using opened = await open();
    const first = await opened.store.put('dir/counter', Buffer.from('0'), attributes);
    assert.ok(first.written && first.etag !== undefined);
    await using holder = await startProcess(process.execPath, [writerScript, opened.root, 'holder', 'hold']);
    while (!holder.output().stdout.includes('held')) await realClock.sleep(5);
    let ended = false;
    const swap = opened.store
      .put('dir/counter', Buffer.from('1'), { ...attributes, condition: { etag: first.etag } })
      .finally(() => {
        ended = true;
      });
    await realClock.sleep(150);
    assert.equal(ended, false);
    assert.equal(await counter(opened.store), 0);
    holder.signal('SIGKILL');
    assert.equal((await swap).written, true);
    assert.equal(await counter(opened.store), 1);
  });

  test('what a killed holder of the lock leaves behind is no object', async () => {
    await using opened = await open();
    await opened.store.put('dir/counter', Buffer.from('0'), attributes);
    await using holder = await startProcess(process.execPath, [writerScript, opened.root, 'holder', 'hold']);
    while (!holder.output().stdout.includes('held')) await realClock.sleep(5);
    holder.signal('SIGKILL');
    await holder.finished;
    assert.deepEqual((await readdir(opened.root)).sort(), [lockName, `${lockName}-journal`, 'dir'].sort());
    assert.deepEqual(await keys(opened.store), ['dir/counter']);
  });
});

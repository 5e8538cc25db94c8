/**
 * A process that the directory tests start and kill: `directory-writer.ts ROOT NAME COUNT` adds one to the object `counter` by
 * compare-and-swap COUNT times and says each number it wrote; COUNT `hold` takes the lock, says so, and keeps it.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { DirectoryStore } from '../../src/store/directory.ts';
import { exclusively } from '../../src/store/directory-lock.ts';
import { lockName } from '../../src/store/directory-tree.ts';
import { realClock } from './clocks.ts';

const [root = '', writer = '', count = ''] = process.argv.slice(2);
const attributes = { contentType: 'text/plain', cacheControl: 'no-cache' } as const;

if (count === 'hold') {
  await exclusively(join(root, lockName), realClock, async () => {
    writeSync(1, 'held\n');
    await realClock.sleep(60_000);
  });
} else {
  const store = new DirectoryStore({ root, clock: realClock, writer });
  for (let done = 0; done < Number(count); ) {
    const now = await store.get('dir/counter');
    if (!now.found) throw new Error('there is no counter');
    const next = `${Number(Buffer.from(now.body).toString()) + 1}`;
    const condition = { etag: now.etag };
    const answer = await store.put('dir/counter', Buffer.from(next), { ...attributes, condition });
    if (!answer.written) continue;
    writeSync(1, `${next}\n`);
    done += 1;
  }
}

import { createHash } from 'node:crypto';
import type { Bucket } from '../rig/s3-bucket.ts';
import { brokenPromises } from './bucket-check.ts';

/** One change of a bucket that took effect, whatever its sender was told. */
export interface Effect {
  readonly change: 'written' | 'removed';
  readonly key: string;
  /** Of the bytes written. */
  readonly sha256?: string;
}

/** Writes down what really happens to a bucket, in order, and what it breaks while it happens. */
export class Effects {
  readonly all: Effect[] = [];
  /** Promises that were broken at some instant (invariant 2), with the change that broke them. */
  readonly violations: string[] = [];
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
    const write = bucket.write.bind(bucket);
    const remove = bucket.remove.bind(bucket);
    bucket.write = (key, body, attributes) => {
      const object = write(key, body, attributes);
      this.#note({ change: 'written', key, sha256: createHash('sha256').update(object.body).digest('hex') });
      return object;
    };
    bucket.remove = (key) => {
      const existed = bucket.has(key);
      remove(key);
      if (existed) this.#note({ change: 'removed', key });
    };
  }

  /** The keys changed so, in order, one for each time. */
  keys(change: Effect['change'], part = ''): string[] {
    return this.all.flatMap((effect) => (effect.change === change && effect.key.includes(part) ? [effect.key] : []));
  }

  /**
   * The hashes that an object has had, in order. Writes of the same bytes one after the other are one: nobody can tell, and a
   * store without conditions may well carry out both.
   */
  history(key: string): string[] {
    const writes = this.all.filter((effect) => effect.change === 'written' && effect.key === key);
    return writes.map(({ sha256 }) => sha256 ?? '').filter((sha256, index, all) => sha256 !== all[index - 1]);
  }

  #note(effect: Effect): void {
    this.all.push(effect);
    const matters = effect.change === 'removed' || /InRelease$|\.json$/.test(effect.key);
    if (!matters) return;
    for (const broken of brokenPromises(this.#bucket)) {
      this.violations.push(`${broken} after ${effect.key} was ${effect.change}`);
    }
  }
}

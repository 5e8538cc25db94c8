/**
 * Runs `work` for all items at once (the store's limiter holds the number in flight) and waits for every one of them, so that no
 * request is left running when the first error is thrown.
 */
export async function wave<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  return together(...items.map((item) => work(item)));
}

/** The results of work that was started already; throws the first error, in order, when all of it has ended. */
export async function together<const Work extends readonly (Promise<unknown> | undefined)[]>(
  ...work: Work
): Promise<{ -readonly [Index in keyof Work]: Awaited<Work[Index]> }> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return Promise.all(work);
}

/** What may be in hand together, by number and by weight; a single item heavier than that is taken alone. */
export interface Bounds<Item> {
  readonly most: number;
  readonly heaviest: number;
  readonly weigh: (item: Item) => number;
}

/** The same for work that holds more than a request while it waits: items are taken up, in order, as others end. */
export async function boundedWave<Item>(
  items: readonly Item[],
  { most, heaviest, weigh }: Bounds<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let inHand = 0;
  let weight = 0;
  let ended = Promise.withResolvers<void>();
  const take = async (item: Item, own: number) => {
    inHand += 1;
    weight += own;
    await work(item).catch((error: unknown) => failures.push(error));
    inHand -= 1;
    weight -= own;
    ended.resolve();
  };
  for (const item of items) {
    const own = weigh(item);
    while (inHand >= most || (inHand > 0 && weight + own > heaviest)) {
      await ended.promise;
      ended = Promise.withResolvers();
    }
    if (failures.length > 0) break;
    void take(item, own);
  }
  while (inHand > 0) {
    await ended.promise;
    ended = Promise.withResolvers();
  }
  if (failures.length > 0) throw failures[0];
}

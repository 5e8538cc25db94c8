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

import type { IndexContributor } from '../timing/record.ts';

/** How many packages are named for one index: what it grew by is rarely spread evenly. */
const most = 3;

/** The packages that bring most into one index, all their versions together, the largest first. */
export function contributors(
  arriving: readonly { readonly package: string; readonly amount: number }[],
  unit: IndexContributor['unit'],
): IndexContributor[] {
  const amounts = new Map<string, number>();
  for (const { package: name, amount } of arriving) amounts.set(name, (amounts.get(name) ?? 0) + amount);
  return [...amounts]
    .filter(([, amount]) => amount > 0)
    .sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([name, amount]) => ({ package: name, amount, unit }));
}

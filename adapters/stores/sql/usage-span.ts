/** Which part of a time can be read from sums by quarters of an hour, and what is left of it at its ends. */

export const quarterMs = 900_000
export const dayMs = 86_400_000

/** Periods of the same length, by their numbers since 1970: the first, and the first that is not of them. */
export interface Periods {
  readonly ms: number
  readonly begin: number
  readonly end: number
}

export interface Span {
  /** Whole quarters. Empty where begin and end are equal. */
  readonly quarters: Periods
  /** What is to be read call by call: from, and up to but not including. */
  readonly edges: readonly (readonly [number, number])[]
}

/** No quarter is before or after these: they are numbers of 32 bits. */
const [first, last] = [-2_147_483_648, 2_147_483_647]

/** `whole`: false where sums are of no use, since days begin within a quarter. */
export function spanOf(from: number = -Infinity, to: number = Infinity, whole: boolean = true): Span {
  const [begin, end] = [Math.ceil(from / quarterMs), Math.floor(to / quarterMs)]
  if (!whole || begin >= end)
    return { quarters: { ms: quarterMs, begin: 0, end: 0 }, edges: from < to ? [[from, to]] : [] }
  const edges: [number, number][] = [
    [from, begin * quarterMs],
    [end * quarterMs, to],
  ]
  return {
    quarters: { ms: quarterMs, begin: Math.max(first, begin), end: Math.min(last, end) },
    edges: edges.filter(([left, right]) => left < right),
  }
}

/** Quarters as whole days (UTC) and the quarters before and after them. */
export function withDays({ begin, end }: Periods): Periods[] {
  const [firstDay, lastDay] = [Math.ceil((begin * quarterMs) / dayMs), Math.floor((end * quarterMs) / dayMs)]
  if (firstDay >= lastDay) return [{ ms: quarterMs, begin, end }]
  const [left, right] = [(firstDay * dayMs) / quarterMs, (lastDay * dayMs) / quarterMs]
  return [
    { ms: quarterMs, begin, end: left },
    { ms: dayMs, begin: firstDay, end: lastDay },
    { ms: quarterMs, begin: right, end },
  ].filter((each) => each.begin < each.end)
}

export const quarterMs = 900_000
export const dayMs = 86_400_000

/** Consecutive periods of `ms` milliseconds, numbered from 1970: from `begin` up to but not including `end`. */
export interface Periods {
  readonly ms: number
  readonly begin: number
  readonly end: number
}

/** A time range, split for reading sums by quarter of an hour. */
export interface Span {
  /** The whole quarters in the range. None if `begin` equals `end`. */
  readonly quarters: Periods
  /** The rest, which must be read request by request: from, and up to but not including. */
  readonly edges: readonly (readonly [number, number])[]
}

/** The first and last quarter: their numbers have 32 bits. */
const [first, last] = [-2_147_483_648, 2_147_483_647]

/** Splits a time range. Pass `whole: false` if sums cannot be used, because days begin within a quarter. */
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

/** Splits quarters into whole days (UTC) and the quarters before and after them. Each may be empty. */
export function withDays({ begin, end }: Periods): Periods[] {
  const [firstDay, lastDay] = [Math.ceil((begin * quarterMs) / dayMs), Math.floor((end * quarterMs) / dayMs)]
  if (firstDay >= lastDay) return [{ ms: quarterMs, begin, end }]
  const [left, right] = [(firstDay * dayMs) / quarterMs, (lastDay * dayMs) / quarterMs]
  return [
    { ms: quarterMs, begin, end: left },
    { ms: dayMs, begin: firstDay, end: lastDay },
    { ms: quarterMs, begin: right, end },
  ]
}

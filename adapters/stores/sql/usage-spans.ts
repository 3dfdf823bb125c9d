export const quarterMs = 900_000
export const dayMs = 86_400_000
export const quartersOfDay = 96

/** Consecutive periods, numbered from 1970: from `begin` up to but not including `end`. */
export interface Periods {
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
  if (!whole || begin >= end) return { quarters: { begin: 0, end: 0 }, edges: from < to ? [[from, to]] : [] }
  const edges: [number, number][] = [
    [from, begin * quarterMs],
    [end * quarterMs, to],
  ]
  return {
    quarters: { begin: Math.max(first, begin), end: Math.min(last, end) },
    edges: edges.filter(([left, right]) => left < right),
  }
}

/** Which rows of the tables of sums are read. */
import type { Dialect, SumPart, Values } from './sql.ts'
import { dayMs, quarterMs, quartersOfDay, type Periods } from './usage-spans.ts'

/** The rows of a table, without the columns that are read of them. */
export interface TimedPart extends Omit<SumPart, 'columns'> {
  /** The expression of the time of a row. */
  readonly at: string
  /** The same of the sum from which the row is taken, because it is a part of it. */
  readonly less: string
}

export interface SumParts {
  readonly parts: readonly TimedPart[]
  /** The values of their statements. */
  readonly values: Values
  /** Whether any row is taken from another sum. */
  readonly isLess: boolean
}

/**
 * The sums of some quarters of an hour, where possible by days of UTC if `isDaily`. Local days begin `offsetMs` before these:
 * the sum of a day counts for the local day that has most of it, and its quarters that belong to another local day are
 * taken from that one. `isFew`: whether each label is looked up.
 */
export function sumPartsOf(
  { types }: Dialect,
  { begin, end }: Periods,
  isDaily: boolean,
  offsetMs: number,
  isFew: boolean,
): SumParts {
  const timeOf = (ms: number) => `number * CAST(${ms} AS ${types.real})`
  const none = `CAST(NULL AS ${types.real})`
  const ofQuarters = (name: string, conditions: readonly string[] = [], less = none): TimedPart => ({
    table: '@.usage_quarters',
    range: [`:${name}Begin`, `:${name}End`],
    conditions,
    at: timeOf(quarterMs),
    less,
  })
  const [firstDay, lastDay] = [Math.ceil(begin / quartersOfDay), Math.floor(end / quartersOfDay)]
  if (!isDaily || firstDay >= lastDay) {
    const values = { allBegin: begin, allEnd: end }
    return { parts: begin < end ? [ofQuarters('all')] : [], values, isLess: false }
  }
  const [left, right] = [firstDay * quartersOfDay, lastDay * quartersOfDay]
  // Quarters at the end of a day that belong to the next local day. If these are most of it, the others are the rest.
  const tail = Math.round((((offsetMs % dayMs) + dayMs) % dayMs) / quarterMs)
  const isNext = tail > quartersOfDay / 2
  const days: TimedPart = {
    table: '@.usage_days',
    range: [':daysBegin', ':daysEnd'],
    conditions: [],
    at: isNext ? `${timeOf(dayMs)} + ${dayMs - quarterMs}` : timeOf(dayMs),
    less: none,
  }
  const values = {
    daysBegin: firstDay,
    daysEnd: lastDay,
    allBegin: begin,
    allEnd: end,
    leftBegin: begin,
    leftEnd: left,
    rightBegin: right,
    rightEnd: end,
    tail: quartersOfDay - tail,
  }
  const ends = [...(begin < left ? [ofQuarters('left')] : []), ...(right < end ? [ofQuarters('right')] : [])]
  if (tail === 0) {
    const isApart = isFew || ends.length < 2
    const parts = isApart ? ends : [ofQuarters('all', ['(number < :leftEnd OR number >= :rightBegin)'])]
    return { parts: [days, ...parts], values, isLess: false }
  }
  const place = `(number % ${quartersOfDay} + ${quartersOfDay}) % ${quartersOfDay}`
  const isRead = `(number < :leftEnd OR number >= :rightBegin OR ${place} ${isNext ? '<' : '>='} :tail)`
  const other = `${timeOf(quarterMs)} ${isNext ? '+' : '-'} ${dayMs}`
  const less = `CASE WHEN number >= :leftEnd AND number < :rightBegin THEN ${other} END`
  return { parts: [days, ofQuarters('all', [isRead], less)], values, isLess: true }
}

import { offsetsIn } from '../records/calendar.ts'
import { comparing } from '../records/compare.ts'
import { mapInTurns } from './in-turns.ts'
import type { UsageQuestion, UsageSummary } from '../observe/usage/contract.ts'

/** No gateway has older records. Before it, days have the offset from UTC that they had at this time. */
const earliest = Date.UTC(2020, 0, 1)

/** Asks a store for sums by days of a time zone: once for each part of the range in which its clocks are not changed. */
export async function summariseByLocalDay(
  timeZone: string,
  question: UsageQuestion,
  now: number,
  ask: (question: UsageQuestion) => Promise<UsageSummary[]>,
): Promise<UsageSummary[]> {
  const { from = -Infinity, to = Infinity, by } = question
  const spans = offsetsIn(timeZone, Math.max(from, earliest), Math.min(to, Math.max(now, earliest) + 86_400_000))
  const rows = new Map<string, UsageSummary>()
  for (const [index, { at, offsetMinutes }] of spans.entries()) {
    const [begin, end] = [index === 0 ? from : at, spans[index + 1]?.at ?? to]
    const range = { ...(Number.isFinite(begin) && { from: begin }), ...(Number.isFinite(end) && { to: end }) }
    const { from: _, to: __, ...rest } = question
    const found = await ask({ ...rest, ...range, offsetMinutes })
    if (spans.length === 1) return found
    await mapInTurns(found, (row) => {
      const name = JSON.stringify(by.map((dimension) => row[dimension]))
      const before = rows.get(name)
      rows.set(name, before === undefined ? row : plus(before, row))
    })
  }
  return [...rows.values()].sort(comparing(by))
}

/** The day of a change of the clocks is in two parts of the range. */
function plus(left: UsageSummary, right: UsageSummary): UsageSummary {
  const sum: Record<string, unknown> = { ...left }
  for (const [name, value] of Object.entries(right)) {
    if (typeof value === 'number') sum[name] = (left[name as 'requests'] ?? 0) + value
    if (typeof value === 'bigint') sum[name] = left[name as 'cost'] + value
  }
  return sum as unknown as UsageSummary
}

/** The test of the usage store contract that compares sums with those of single records. */
import assert from 'node:assert/strict'
import type { UsageDimension, UsageQuestion, UsageRecord, UsageStore, UsageSummary } from '../observe/usage/contract.ts'
import { eachUnit, usageUnits } from '../observe/usage/units.ts'
import { comparing } from '../records/compare.ts'
import { fresh, type Suite } from './kit.ts'
import { seeded } from './random.ts'
import { record, start } from './usage-sums.ts'

const minute = 60_000
const day = 24 * 60 * minute
const dimensions = ['account', 'key', 'user', 'tag', 'model', 'group', 'session', 'day', 'period'] as const
const measures = ['cost', 'requests', 'tokens'] as const

/** `seed`: of the records and questions, which are the same each time. */
export function testRandomSums(it: Suite<UsageStore>['it'], seed: number = 1): void {
  it('sums are those of the records, for any range, time zone, filter and dimensions', async (store, other) => {
    const random = new Random(seed)
    const names = {
      account: ['a', 'b', 'c'].map(fresh),
      model: ['m', 'n'].map(fresh),
      key: ['k', 'l'].map(fresh),
      user: ['u', 'v'].map(fresh),
      tag: ['s', 't'].map(fresh),
    }
    const records = Array.from({ length: 150 }, () => recordOf(random, names))
    for (let from = 0; from < records.length; from += 50) await store.append(records.slice(from, from + 50))
    for (let count = 0; count < 100; count++) {
      const question = questionOf(random, names)
      const { by, only, largest } = question
      const expected = sumsOf(records, question)
      const isWanted = (row: UsageSummary) => only === undefined || only.values.includes(row[only.dimension] ?? '')
      const found = (await other.summarise(question)).filter(isWanted)
      const wanted = expected.filter(isWanted)
      const text = `of seed ${seed}: ${JSON.stringify(question)}`
      if (largest === undefined) {
        assert.deepEqual(found, wanted, text)
        continue
      }
      const known = new Map(wanted.map((row) => [nameOf(row, by), row]))
      assert.deepEqual(found, found.map((row) => known.get(nameOf(row, by))).toSorted(comparing(by) as never), text)
      const sizes = (rows: readonly UsageSummary[]) =>
        rows.map((row) => sizeOf(row, largest.measure)).sort((left, right) => right - left)
      assert.deepEqual(sizes(found).slice(0, largest.most), sizes(wanted).slice(0, largest.most), text)
    }
  })
}

type Names = Readonly<Record<'account' | 'model' | 'key' | 'user' | 'tag', readonly string[]>>

/** Within four days, often at the beginning or end of a quarter of an hour, an hour or a day. */
function timeIn(random: Random): number {
  const unit = random.of([1, 15 * minute, 60 * minute, day])
  return start + Math.floor(random.below(4 * day) / unit) * unit - random.of([0, 0, 1])
}

function recordOf(random: Random, { account, model, key, user, tag }: Names): UsageRecord {
  const [ofKey, ofUser] = [random.of([undefined, ...key]), random.of([undefined, ...user])]
  const tags = random.of([[], tag.slice(0, 1), tag])
  return record({
    account: random.of(account),
    model: random.of(model),
    group: random.of(['default', 'vip']),
    ...(ofKey !== undefined && { key: ofKey }),
    ...(ofUser !== undefined && { user: ofUser }),
    ...(tags.length > 0 && { tags }),
    ...(random.below(3) === 0 && { session: random.of(['x', 'y']) }),
    ...(random.below(4) === 0 && { outcome: 'failed', code: 'server_error' }),
    ...eachUnit(() => (random.below(3) === 0 ? random.below(1_000) / 4 : 0)),
    cost: random.of([0n, BigInt(random.below(1_000)), 2n ** 40n + BigInt(random.below(1_000))]),
    ...(random.below(2) === 0 && { vendorCost: BigInt(random.below(1_000)) }),
    startedAt: timeIn(random),
  })
}

function questionOf(random: Random, names: Names): UsageQuestion {
  const by = dimensions.filter(() => random.below(4) === 0)
  const filters = (['account', 'model', 'key', 'user', 'tag'] as const).filter(() => random.below(5) === 0)
  const filter = Object.fromEntries([...filters, 'model' as const].map((name) => [name, random.of(names[name])]))
  const dimension = random.of(['account', 'key', 'user', 'model', 'group'] as const)
  const values = dimension === 'group' ? ['vip'] : names[dimension].slice(0, 1)
  const isHalf = random.below(5) > 0
  return {
    by: by.toSorted(() => random.below(2) - 0.5),
    ...filter,
    ...(random.below(2) === 0 && { from: timeIn(random) }),
    ...(random.below(2) === 0 && { to: timeIn(random) }),
    ...(random.below(4) > 0 && { offsetMinutes: random.below(isHalf ? 104 : 1_560) * (isHalf ? 15 : 1) - 720 }),
    ...(random.below(2) === 0 && { periodMs: random.of([15, 60, 90, 720, 1_440, 2_880, 7]) * minute }),
    ...(random.below(8) === 0 && { outcome: random.of(['completed', 'failed'] as const) }),
    ...(random.below(8) === 0 && { session: 'x' }),
    ...(random.below(5) === 0 && by.includes(dimension) && { only: { dimension, values } }),
    ...(random.below(5) === 0 && { largest: { most: 1 + random.below(5), measure: random.of(measures) } }),
  }
}

/** The expected answer: adds the matching records one by one. */
function sumsOf(records: readonly UsageRecord[], question: UsageQuestion): UsageSummary[] {
  const { by, from = -Infinity, to = Infinity, offsetMinutes = 0, periodMs = 60 * minute } = question
  const equal = ['account', 'model', 'key', 'user', 'session', 'outcome'] as const
  const offset = offsetMinutes * minute
  const rows = new Map<string, { -readonly [Name in keyof UsageSummary]: UsageSummary[Name] }>()
  for (const each of records) {
    if (each.startedAt < from || each.startedAt >= to) continue
    if (equal.some((name) => question[name] !== undefined && question[name] !== each[name])) continue
    if (question.tag !== undefined && each.tags?.includes(question.tag) !== true) continue
    const local = each.startedAt + offset
    for (const tag of by.includes('tag') ? (each.tags ?? ['']) : ['']) {
      const own: Partial<Record<UsageDimension, string | number | undefined>> = {
        ...each,
        tag,
        day: new Date(local).toISOString().slice(0, 10),
        period: Math.floor(local / periodMs) * periodMs - offset,
      }
      const values = Object.fromEntries(by.map((dimension) => [dimension, own[dimension] ?? '']))
      const name = nameOf(values, by)
      const none = { requests: 0, incomplete: 0, ...eachUnit(() => 0), cost: 0n, vendorCost: 0n, uncosted: 0 }
      const row = rows.get(name) ?? { ...values, ...none }
      rows.set(name, row)
      row.requests++
      if (each.outcome !== 'completed') row.incomplete++
      for (const unit of usageUnits) row[unit] += each[unit]
      row.cost += each.cost
      row.vendorCost += each.vendorCost ?? 0n
      if (each.vendorCost === undefined) row.uncosted++
    }
  }
  return [...rows.values()].sort(comparing(by))
}

function nameOf(row: Partial<UsageSummary>, by: readonly UsageDimension[]): string {
  return JSON.stringify(by.map((dimension) => row[dimension]))
}

function sizeOf(row: UsageSummary, measure: (typeof measures)[number]): number {
  return measure === 'tokens' ? row.promptTokens + row.completionTokens : Number(row[measure])
}

/** Pseudo-random choices, reproducible by seed. */
class Random {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = seeded(seed)
  }

  /** An integer from 0 up to but not including `end`. */
  below(end: number): number {
    return Math.floor(this.#next() * end)
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }
}

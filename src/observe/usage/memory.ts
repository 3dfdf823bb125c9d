import { dayOf } from '../../records/calendar.ts'
import { comparing } from '../../records/compare.ts'
import { checkKnown, count as atLeastOne } from '../../records/known-options.ts'
import type { Page, PageRequest } from '../../money/ledger/contract.ts'
import { cursorOf, pageOf, readCursor } from '../../records/page.ts'
import type {
  Anonymisation,
  UsageLineFilter,
  UsageLineSum,
  NamedUser,
  UsageDimension,
  UsageFilter,
  UsageQuestion,
  UsageRecord,
  UsageStore,
  UsageSummary,
} from './contract.ts'
import { summedAmounts, usageFieldsWith } from './fields.ts'
import { eachUnit, usageUnits } from './units.ts'

/** Options of `memoryUsageStore`. */
export interface MemoryUsageStoreOptions {
  /** Maximum number of records; the oldest are dropped. Default 10,000. */
  readonly count?: number
}

/** A usage store in the memory of this process. Keeps the latest records only; all are lost on restart. */
export function memoryUsageStore(options: MemoryUsageStoreOptions = {}): UsageStore {
  checkKnown('memoryUsageStore', options, { count: atLeastOne })
  return new MemoryUsage(options.count ?? 10_000)
}

class MemoryUsage implements UsageStore {
  readonly #most: number
  readonly #records = new Map<string, UsageRecord>()
  /** Those of refused requests, apart, so that they cannot displace others. */
  readonly #refused = new Map<string, UsageRecord>()
  /** The users that requests have named, by account. */
  readonly #users = new Map<string, Set<string>>()
  /** One iterator for all deletions: a new iterator of a Map steps over every deleted entry at its beginning. */
  #oldest: Iterator<string, undefined> | undefined

  constructor(most: number) {
    this.#most = most
  }

  append(records: readonly UsageRecord[]): void {
    for (const record of records) {
      if (this.#records.has(record.id)) continue
      this.#records.set(record.id, copyOf(record))
      if (this.#records.size <= this.#most) continue
      this.#oldest ??= this.#records.keys()
      this.#records.delete(this.#oldest.next().value as string)
    }
  }

  appendRefused(records: readonly UsageRecord[]): void {
    for (const record of records) {
      if (!this.#refused.has(record.id)) this.#refused.set(record.id, copyOf(record))
      if (this.#refused.size <= Math.min(this.#most, mostRefused)) continue
      for (const id of [...this.#refused.keys()].slice(0, Math.ceil(this.#refused.size / 10))) this.#refused.delete(id)
    }
  }

  sumLines(filter: UsageLineFilter): UsageLineSum[] {
    const rows = new Map<string, UsageLineSum>()
    for (const { account, model, lines = [] } of matching(this.#records, filter)) {
      for (const { item, quantity, per, price } of lines) {
        const name = JSON.stringify([account, model, item, per, price])
        const before = rows.get(name)?.quantity ?? 0
        rows.set(name, { account, model, item, quantity: before + quantity, per, price })
      }
    }
    return [...rows.values()].sort(comparing(lineOrder))
  }

  removeBefore(before: number, most: number, only?: 'refused'): number {
    const all = [...(only === undefined ? this.#records.values() : []), ...this.#refused.values()]
    const old = all.filter(({ startedAt }) => startedAt < before)
    const removed = old.sort((left, right) => left.startedAt - right.startedAt).slice(0, most)
    for (const { id } of removed) if (!this.#refused.delete(id)) this.#records.delete(id)
    return removed.length
  }

  anonymise({ account, user, as }: Anonymisation): boolean {
    if (user === undefined) this.#users.delete(account)
    else this.#users.get(account)?.delete(user)
    for (const records of [this.#records, this.#refused]) {
      for (const record of matching(records, { account, ...(user !== undefined && { user }) })) {
        const anonymous: { -readonly [Name in keyof UsageRecord]: UsageRecord[Name] } = { ...record, account: as }
        for (const name of personal) delete anonymous[name]
        records.set(record.id, anonymous)
      }
    }
    return false
  }

  admitUsers(users: readonly NamedUser[], most: number): boolean[] {
    return users.map(({ account, user }) => {
      const known = this.#users.get(account) ?? new Set()
      this.#users.set(account, known)
      if (known.has(user) || known.size >= most) return known.has(user)
      known.add(user)
      return true
    })
  }

  find(id: string): UsageRecord | undefined {
    const record = this.#records.get(id) ?? this.#refused.get(id)
    return record && copyOf(record)
  }

  list(question: UsageFilter & PageRequest): Page<UsageRecord> {
    const { limit = 100, after } = question
    const [startedAt, id] = after === undefined ? [] : readCursor(after)
    const last = startedAt === undefined || id === undefined ? undefined : { startedAt, id }
    const found = [...matching(this.#records, question), ...matching(this.#refused, question)]
      .filter((record) => last === undefined || newestFirst(record, last) > 0)
      .sort(newestFirst)
    const page = pageOf(found, limit, ({ startedAt, id }) => cursorOf(startedAt, id))
    return { ...page, items: page.items.map(copyOf) }
  }

  summarise(question: UsageQuestion): UsageSummary[] {
    const { by, offsetMinutes = 0, periodMs = hourMs } = question
    const offsetMs = offsetMinutes * 60_000
    const rows = new Map<string, Sum>()
    for (const record of matching(this.#records, question)) {
      for (const tag of by.includes('tag') ? (record.tags ?? ['']) : ['']) {
        const values = by.map((dimension) => {
          if (dimension === 'tag') return tag
          if (dimension !== 'period') return valueOf(record, dimension, offsetMinutes)
          return Math.floor((record.startedAt + offsetMs) / periodMs) * periodMs - offsetMs
        })
        const name = JSON.stringify(values)
        let row = rows.get(name)
        if (row === undefined) {
          row = { ...nothing, ...Object.fromEntries(by.map((each, index) => [each, values[index]])) }
          rows.set(name, row)
        }
        add(row, record)
      }
    }
    return [...rows.values()].sort(comparing(by))
  }
}

/** Maximum number of records of refused requests. */
const mostRefused = 1_000

function matching(records: ReadonlyMap<string, UsageRecord>, filter: UsageFilter): UsageRecord[] {
  const { tag, from = -Infinity, to = Infinity } = filter
  return [...records.values()].filter(
    (record) =>
      equalFields.every((name) => filter[name] === undefined || record[name] === filter[name]) &&
      (tag === undefined || record.tags?.includes(tag) === true) &&
      record.startedAt >= from &&
      record.startedAt < to,
  )
}

const lineOrder = ['account', 'model', 'item', 'per', 'price'] as const
const hourMs = 3_600_000
const equalFields = usageFieldsWith(({ filter }) => filter) as readonly (keyof UsageFilter & keyof UsageRecord)[]
const personal = usageFieldsWith((field) => field.personal) as readonly (
  | 'key'
  | 'user'
  | 'session'
  | 'agent'
  | 'tags'
)[]
/** Those with values that can be changed. */
const lists = usageFieldsWith(({ kept }) => kept === 'json' || kept === 'packed')

function copyOf(record: UsageRecord): UsageRecord {
  const copy: Record<string, unknown> = { ...record }
  for (const name of lists) {
    const list = record[name] as readonly (string | object)[] | undefined
    if (list !== undefined) copy[name] = list.map((each) => (typeof each === 'string' ? each : { ...each }))
  }
  return copy as unknown as UsageRecord
}

type Place = Pick<UsageRecord, 'startedAt' | 'id'>

/** By time, then by id. */
function newestFirst(left: Place, right: Place): number {
  return Math.trunc(right.startedAt) - Math.trunc(left.startedAt) || (left.id < right.id ? 1 : -1)
}

function valueOf(
  record: UsageRecord,
  dimension: Exclude<UsageDimension, 'tag' | 'period'>,
  offsetMinutes: number,
): string {
  if (dimension !== 'day') return record[dimension] ?? ''
  return dayOf(record.startedAt + offsetMinutes * 60_000)
}

type Sum = { -readonly [Name in keyof UsageSummary]: UsageSummary[Name] }

const nothing: Sum = { requests: 0, incomplete: 0, ...eachUnit(() => 0), cost: 0n, vendorCost: 0n, uncosted: 0 }

function add(row: Sum, record: UsageRecord): void {
  row.requests += 1
  if (record.outcome !== 'completed') row.incomplete += 1
  for (const unit of usageUnits) row[unit] += record[unit]
  for (const { name, missing } of summedAmounts) {
    const amount = record[name]
    if (amount !== undefined) row[name] += amount
    else if (missing !== undefined) row[missing] += 1
  }
}

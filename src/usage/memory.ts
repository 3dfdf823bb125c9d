import { checkKnown, count as atLeastOne } from '../validation/known-options.ts'
import type { Page, PageRequest } from '../billing/contract.ts'
import { cursorOf, pageOf, readCursor } from '../billing/page.ts'
import type { UsageDimension, UsageFilter, UsageQuestion, UsageRecord, UsageStore, UsageSummary } from './contract.ts'

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
  /** One iterator for all deletions: a new iterator of a Map steps over every deleted entry at its beginning. */
  #oldest: Iterator<string, undefined> | undefined

  constructor(most: number) {
    this.#most = most
  }

  append(records: readonly UsageRecord[]): void {
    for (const record of records) {
      if (this.#records.has(record.id)) continue
      this.#records.set(record.id, { ...record })
      if (this.#records.size <= this.#most) continue
      this.#oldest ??= this.#records.keys()
      this.#records.delete(this.#oldest.next().value as string)
    }
  }

  find(id: string): UsageRecord | undefined {
    const record = this.#records.get(id)
    return record && { ...record }
  }

  list(question: UsageFilter & PageRequest): Page<UsageRecord> {
    const { limit = 100, after } = question
    const [startedAt, id] = after === undefined ? [] : readCursor(after)
    const before = startedAt === undefined || id === undefined ? undefined : placeOf({ startedAt, id })
    const found = this.#matching(question)
      .filter((record) => before === undefined || placeOf(record) < before)
      .sort((left, right) => (placeOf(left) < placeOf(right) ? 1 : -1))
    const page = pageOf(found, limit, ({ startedAt, id }) => cursorOf(startedAt, id))
    return { ...page, items: page.items.map((record) => ({ ...record })) }
  }

  summarise(question: UsageQuestion): UsageSummary[] {
    const { by, offsetMinutes = 0 } = question
    const rows = new Map<string, UsageSummary>()
    for (const record of this.#matching(question)) {
      const values = by.map((dimension) => valueOf(record, dimension, offsetMinutes))
      const name = JSON.stringify(values)
      const row = rows.get(name) ?? {
        ...nothing,
        ...Object.fromEntries(by.map((each, index) => [each, values[index]])),
      }
      rows.set(name, plus(row, record))
    }
    return [...rows.values()].sort((left, right) => {
      const differing = by.find((dimension) => left[dimension] !== right[dimension])
      return differing === undefined || (left[differing] ?? '') < (right[differing] ?? '') ? -1 : 1
    })
  }

  #matching(filter: UsageFilter): UsageRecord[] {
    const { account, key, model, from = -Infinity, to = Infinity } = filter
    return [...this.#records.values()].filter(
      (record) =>
        (account === undefined || record.account === account) &&
        (key === undefined || record.key === key) &&
        (model === undefined || record.model === model) &&
        record.startedAt >= from &&
        record.startedAt < to,
    )
  }
}

/** A string that sorts by time, then by id. */
function placeOf({ startedAt, id }: Pick<UsageRecord, 'startedAt' | 'id'>): string {
  return `${String(Math.trunc(startedAt)).padStart(16, '0')}:${id}`
}

function valueOf(record: UsageRecord, dimension: UsageDimension, offsetMinutes: number): string {
  if (dimension !== 'day') return record[dimension] ?? ''
  return new Date(record.startedAt + offsetMinutes * 60_000).toISOString().slice(0, 10)
}

const nothing: UsageSummary = {
  requests: 0,
  incomplete: 0,
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  images: 0,
  seconds: 0,
  cost: 0n,
}

function plus(row: UsageSummary, record: UsageRecord): UsageSummary {
  return {
    ...row,
    requests: row.requests + 1,
    incomplete: row.incomplete + (record.outcome === 'completed' ? 0 : 1),
    promptTokens: row.promptTokens + record.promptTokens,
    cachedTokens: row.cachedTokens + record.cachedTokens,
    completionTokens: row.completionTokens + record.completionTokens,
    reasoningTokens: row.reasoningTokens + record.reasoningTokens,
    images: row.images + record.images,
    seconds: row.seconds + record.seconds,
    cost: row.cost + record.cost,
  }
}

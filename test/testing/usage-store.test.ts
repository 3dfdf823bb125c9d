import { describe } from 'vitest'
import { testUsageStore } from '../../src/testing/usage-store.ts'
import type { UsageStore } from '../../src/usage/contract.ts'
import { memoryUsageStore } from '../../src/usage/memory.ts'
import { plant, type Fault } from './faults.ts'

const faults: Fault<UsageStore>[] = [
  [
    'a repeated record is added again',
    (store) => {
      let made = 0
      return {
        append: (records) => store.append(records.map((record) => ({ ...record, id: `${record.id} ${++made}` }))),
      }
    },
    'keeps the first record of an id when it is appended again',
  ],
  [
    'costs are floating-point numbers',
    (store) => ({
      append: (records) =>
        store.append(records.map((record) => ({ ...record, cost: BigInt(Math.fround(Number(record.cost))) }))),
    }),
    'lists a record as it was appended',
  ],
  [
    'absent fields are null',
    (store) => ({
      async list(question) {
        const page = await store.list(question)
        return { ...page, items: page.items.map((item) => ({ key: null, provider: null, ...item }) as never) }
      },
    }),
    'omits fields that the record does not have',
  ],
  [
    'the oldest come first',
    (store) => ({
      list: async (question) => ({ items: (await store.list({ ...question, limit: 1_000 })).items.toReversed() }),
    }),
    'lists the newest first, and records of the same time by descending id',
  ],
  [
    'the end of the time range is included',
    (store) => ({ list: (question) => store.list({ ...question, ...(question.to && { to: question.to + 1 }) }) }),
    'lists only records that match the filter',
  ],
  [
    'the account is ignored',
    (store) => ({ list: (question) => store.list(without('account', question)) }),
    'lists only records that match the filter',
  ],
  [
    'the key is ignored in sums',
    (store) => ({ summarise: (question) => store.summarise(without('key', question)) }),
    'lists only records that match the filter',
  ],
  [
    'pages are counted from the beginning',
    (store) => ({
      async list({ after = '0', ...question }) {
        const { items } = await store.list({ ...question, limit: 1_000 })
        const end = Number(after) + (question.limit ?? 100)
        return { items: items.slice(Number(after), end), ...(end < items.length && { next: String(end) }) }
      },
    }),
    'pages neither repeat nor omit a record while others are appended',
  ],
  [
    'pages continue by time alone',
    (store) => ({
      async list(question) {
        const page = await store.list({ ...question, limit: 1_000 })
        const older = page.items.filter(
          (item) => question.after === undefined || item.startedAt < Number(question.after),
        )
        const items = older.slice(0, question.limit)
        return { items, ...(older.length > items.length && { next: String(items.at(-1)?.startedAt) }) }
      },
    }),
    'pages neither repeat nor omit a record while others are appended',
  ],
  [
    'sums of costs lose their last digits',
    (store) => ({
      summarise: async (question) =>
        (await store.summarise(question)).map((row) => ({ ...row, cost: BigInt(Number(row.cost)) })),
    }),
    'sums are exact to the last digit',
  ],
  [
    'a sum over nothing is a row of zeros',
    (store) => ({
      async summarise(question) {
        const rows = await store.summarise(question)
        const zero = {
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
        return rows.length === 0 && question.by.length === 0 ? [zero] : rows
      },
    }),
    'returns nothing for an account without records',
  ],
  [
    'rows are ordered by the number of requests',
    (store) => ({
      summarise: async (question) =>
        (await store.summarise(question)).toSorted((left, right) => left.requests - right.requests),
    }),
    'groups sums by any combination of dimensions, ordered by them',
  ],
  [
    'only the first dimension counts',
    (store) => ({ summarise: (question) => store.summarise({ ...question, by: question.by.slice(0, 1) }) }),
    'groups sums by any combination of dimensions, ordered by them',
  ],
  [
    'days are those of UTC',
    (store) => ({ summarise: (question) => store.summarise(without('offsetMinutes', question)) }),
    'days begin at midnight in the given time zone offset',
  ],
  [
    'the time zone offset has the wrong sign',
    (store) => ({
      summarise: (question) => store.summarise({ ...question, offsetMinutes: -(question.offsetMinutes ?? 0) }),
    }),
    'days begin at midnight in the given time zone offset',
  ],
  [
    'names are compared without case',
    (store) => ({
      list: async ({ model, ...question }) => {
        const { items } = await store.list({ ...question, limit: 1_000 })
        return {
          items: items.filter((item) => model === undefined || item.model.toLowerCase() === model.toLowerCase()),
        }
      },
    }),
    'similar names are separate, and sums are ordered by code point',
  ],
  [
    'the record of the caller is stored without copying',
    () => {
      const kept: unknown[] = []
      return { append: (records) => void kept.push(...records), list: () => ({ items: kept as never }) }
    },
    'is not affected by later changes to records passed in or returned',
  ],
]

function without<T extends object, K extends keyof T>(name: K, whole: T): Omit<T, K> {
  const { [name]: _, ...rest } = whole
  return rest
}

describe('the suite of the usage store finds that', () => {
  plant(testUsageStore, () => memoryUsageStore(), faults)
})

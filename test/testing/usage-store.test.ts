import { describe } from 'vitest'
import { testUsageStore } from '../../src/testing/usage-store.ts'
import type { UsageStore } from '../../src/usage/contract.ts'
import { memoryUsageStore } from '../../src/usage/memory.ts'
import { plant, type Fault } from './faults.ts'

const faults: Fault<UsageStore>[] = [
  [
    'a record that comes again is added again',
    (store) => {
      let made = 0
      return {
        append: (records) => store.append(records.map((record) => ({ ...record, id: `${record.id} ${++made}` }))),
      }
    },
    'keeps the first record of an id',
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
    'leaves out what a record does not say',
  ],
  [
    'the oldest come first',
    (store) => ({
      list: async (question) => ({ items: (await store.list({ ...question, limit: 1_000 })).items.toReversed() }),
    }),
    'lists the newest first',
  ],
  [
    'the time to which is asked is included',
    (store) => ({ list: (question) => store.list({ ...question, ...(question.to && { to: question.to + 1 }) }) }),
    'lists only what was asked for',
  ],
  [
    'the account is not looked at',
    (store) => ({ list: (question) => store.list(without('account', question)) }),
    'lists only what was asked for',
  ],
  [
    'the key is not looked at in sums',
    (store) => ({ summarise: (question) => store.summarise(without('key', question)) }),
    'lists only what was asked for',
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
    'gives pages that neither repeat nor leave out',
  ],
  [
    'pages go on by time alone',
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
    'gives pages that neither repeat nor leave out',
  ],
  [
    'sums of costs lose their last digits',
    (store) => ({
      summarise: async (question) =>
        (await store.summarise(question)).map((row) => ({ ...row, cost: BigInt(Number(row.cost)) })),
    }),
    'sums up everything, to the last digit',
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
    'has nothing where nothing was appended',
  ],
  [
    'rows come in the order of the number of requests',
    (store) => ({
      summarise: async (question) =>
        (await store.summarise(question)).toSorted((left, right) => left.requests - right.requests),
    }),
    'sums up by any combination of dimensions',
  ],
  [
    'only the first dimension counts',
    (store) => ({ summarise: (question) => store.summarise({ ...question, by: question.by.slice(0, 1) }) }),
    'sums up by any combination',
  ],
  [
    'days are those of UTC',
    (store) => ({ summarise: (question) => store.summarise(without('offsetMinutes', question)) }),
    'begins days where it is told',
  ],
  [
    'days are moved the wrong way',
    (store) => ({
      summarise: (question) => store.summarise({ ...question, offsetMinutes: -(question.offsetMinutes ?? 0) }),
    }),
    'begins days where it is told',
  ],
  [
    'names are compared without their case',
    (store) => ({
      list: async ({ model, ...question }) => {
        const { items } = await store.list({ ...question, limit: 1_000 })
        return {
          items: items.filter((item) => model === undefined || item.model.toLowerCase() === model.toLowerCase()),
        }
      },
    }),
    'keeps names apart that look alike',
  ],
  [
    'the caller’s own record is kept',
    () => {
      const kept: unknown[] = []
      return { append: (records) => void kept.push(...records), list: () => ({ items: kept as never }) }
    },
    'is not changed by what is done to records',
  ],
]

function without<T extends object, K extends keyof T>(name: K, whole: T): Omit<T, K> {
  const { [name]: _gone, ...rest } = whole
  return rest
}

describe('the suite of the usage store finds that', () => {
  plant(testUsageStore, () => memoryUsageStore(), faults)
})

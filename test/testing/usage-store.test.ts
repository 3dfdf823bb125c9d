import { describe } from 'vitest'
import { testUsageStore } from '../../src/testing/usage-store.ts'
import type { UsageStore } from '../../src/observe/usage/contract.ts'
import { memoryUsageStore } from '../../src/observe/usage/memory.ts'
import { plant, turn, type Fault } from './faults.ts'
import { eachUnit } from '../../src/observe/usage/units.ts'

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
    'sums of costs lose their last digits',
    (store) => ({
      summarise: async (question) =>
        (await store.summarise(question)).map((row) => ({ ...row, cost: BigInt(Number(row.cost)) })),
    }),
    'sums are exact to the last digit',
  ],
  [
    'an unknown cost counts as none',
    (store) => ({
      summarise: async (question) => (await store.summarise(question)).map((row) => ({ ...row, uncosted: 0 })),
    }),
    'sums what requests cost the host, exactly, and counts those of which it is not known',
  ],
  [
    'a sum over nothing is a row of zeros',
    (store) => ({
      async summarise(question) {
        const rows = await store.summarise(question)
        const zero = {
          requests: 0,
          incomplete: 0,
          ...eachUnit(() => 0),
          cost: 0n,
          vendorCost: 0n,
          uncosted: 0,
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
    'days are those of UTC',
    (store) => ({ summarise: (question) => store.summarise(without('offsetMinutes', question)) }),
    'days begin at midnight in the given time zone offset',
  ],
  [
    'days of users are those of UTC',
    (store) => ({
      summarise: (question) =>
        store.summarise(question.by.includes('user') ? without('offsetMinutes', question) : question),
    }),
    'sums are those of the records, for any range, time zone, filter and dimensions',
  ],
  [
    'refused requests are recorded like others, so that sums count them',
    (store) => ({ appendRefused: (records) => store.append(records) }),
    'lists and finds refused requests, and does not sum them',
  ],
  [
    'refused requests are not listed',
    (store) => ({
      list: async (question) => {
        const page = await store.list(question)
        return { ...page, items: page.items.filter(({ outcome }) => outcome !== 'refused') }
      },
    }),
    'lists and finds refused requests, and does not sum them',
  ],
  [
    'the deletion of refused requests deletes others too',
    (store) => ({ removeBefore: (before, most) => store.removeBefore?.(before, most) ?? 0 }),
    'removes old refused requests, alone or with all others',
  ],
  [
    'the status of an attempt is lost',
    (store) => ({
      append: (records) =>
        store.append(
          records.map((record) => ({
            ...record,
            ...(record.attemptLog && { attemptLog: record.attemptLog.map((attempt) => without('status', attempt)) }),
          })),
        ),
    }),
    'keeps the log of attempts',
  ],
  [
    'the user is not recorded',
    (store) => ({ append: (records) => store.append(records.map((record) => without('user', record))) }),
    'lists and finds users, sessions, agents, tags and attempts as they were appended',
  ],
  [
    'only the first tag is recorded',
    (store) => ({
      append: (records) =>
        store.append(records.map((record) => ({ ...record, ...(record.tags && { tags: record.tags.slice(0, 1) }) }))),
    }),
    'lists only records of a user, session, tag, outcome or error code',
  ],
  [
    'users are ignored in lists',
    (store) => ({ list: (question) => store.list(without('user', question)) }),
    'lists only records of a user, session, tag, outcome or error code',
  ],
  [
    'every incomplete request is failed',
    (store) => ({
      summarise: async (question) => {
        if (question.outcome !== 'failed') return store.summarise(question)
        const all = await store.summarise(without('outcome', question))
        const completed = await store.summarise({ ...question, outcome: 'completed' })
        const rest = (all[0]?.requests ?? 0) - (completed[0]?.requests ?? 0)
        return all.map((row) => ({ ...row, requests: rest }))
      },
    }),
    'lists only records of a user, session, tag, outcome or error code',
  ],
  [
    'requests without a user are missing from sums by user',
    (store) => ({
      summarise: async (question) => {
        const rows = await store.summarise(question)
        return question.by[0] === 'user' ? rows.filter(({ user }) => user !== '') : rows
      },
    }),
    'sums by user, tag and session',
  ],
  [
    'the maximum of users is that of all accounts together',
    (store) => {
      const users = new Set<string>()
      return {
        admitUsers: (named, most) =>
          named.map(({ user }) => users.has(user) || (users.size < most && users.add(user).size > 0)),
        append: (records) => store.append(records),
      }
    },
    'admits users up to the maximum of their account, and those always',
  ],
  [
    'an admitted user is forgotten when the maximum is reached',
    (store) => {
      const counts = new Map<string, number>()
      return {
        append: (records) => store.append(records),
        admitUsers: (named, most) =>
          named.map(({ account }) => {
            const count = (counts.get(account) ?? 0) + 1
            counts.set(account, count)
            return count <= most
          }),
      }
    },
    'admits users up to the maximum of their account, and those always',
  ],
  [
    'users are counted, and registered a moment later',
    (store) => {
      const users = new Map<string, Set<string>>()
      return {
        append: (records) => store.append(records),
        admitUsers: (named, most) =>
          Promise.all(
            named.map(async ({ account, user }) => {
              const known = users.get(account) ?? new Set()
              users.set(account, known)
              if (!known.has(user) && known.size >= most) return false
              await turn()
              known.add(user)
              return true
            }),
          ),
      }
    },
    'admits no user beyond the maximum, even if many are named concurrently',
  ],
  [
    'lines of different prices are one',
    (store) => ({
      sumLines: async (filter) => {
        const rows = (await store.sumLines?.(filter)) ?? []
        const merged = rows.filter(
          (row, index) => index === 0 || row.item !== rows[index - 1]?.item || row.model !== rows[index - 1]?.model,
        )
        return merged
      },
    }),
    'keeps the lines of a charge, and sums equal ones by account and model',
  ],
  [
    'the newest records are removed first',
    (store) => ({
      removeBefore: async (before, most) => {
        const { items } = await store.list({ to: before, limit: 1_000 })
        const kept = items.slice(most)
        const count = (await store.removeBefore?.(before, 1_000)) ?? 0
        await store.append(kept)
        return count - kept.length
      },
    }),
    'removes old records, the oldest first, and no others',
  ],
  [
    'sessions are kept when an account is anonymised',
    (store) => {
      const sessions = new Map<string, string>()
      return {
        append: (records) => {
          for (const { id, session } of records) if (session !== undefined) sessions.set(id, session)
          return store.append(records)
        },
        list: async ({ session, ...question }) => {
          const page = await store.list({ ...question, limit: 1_000 })
          const items = page.items.map((item) => ({ ...item, ...pick(sessions, item.id) }))
          return { items: items.filter((item) => session === undefined || item.session === session) }
        },
      }
    },
    'anonymises the records of an account, and their sums',
  ],
  [
    'sums keep the account that was anonymised',
    (store) => {
      const names = new Map<string, string>()
      return {
        anonymise: (given) => (names.set(given.account, given.as), store.anonymise?.(given) ?? false),
        summarise: (question) =>
          store.summarise({
            ...question,
            ...(question.account && { account: names.get(question.account) ?? question.account }),
          }),
      }
    },
    'anonymises the records of an account, and their sums',
  ],
  [
    'all users of the account are anonymised instead of one',
    (store) => ({ anonymise: (given) => store.anonymise?.(without('user', given)) ?? false }),
    'anonymises one user of an account',
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

function pick(sessions: ReadonlyMap<string, string>, id: string): { session?: string } {
  const session = sessions.get(id)
  return session === undefined ? {} : { session }
}

function without<T extends object, K extends keyof T>(name: K, whole: T): Omit<T, K> {
  const { [name]: _, ...rest } = whole
  return rest
}

describe('the suite of the usage store finds that', () => {
  plant(testUsageStore, () => memoryUsageStore(), faults)
})

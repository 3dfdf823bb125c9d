import { describe, expect, test } from 'vitest'
import type { TaskClaim, TaskRecord, TaskStore } from '../../src/tasks/contract.ts'
import { memoryTaskStore } from '../../src/tasks/memory.ts'
import { testTaskStore } from '../../src/testing/task-store.ts'
import { failuresOf, plant, turn, type Fault } from './faults.ts'

/** A simple store whose rows the faults can change. */
function openStore(keyOf = (account: string, id: string) => JSON.stringify([account, id])) {
  const rows = new Map<string, TaskRecord>()
  const store: TaskStore = {
    async insert(task) {
      const present = rows.get(keyOf(task.account, task.id))
      if (present !== undefined && !(present.expiresAt <= task.createdAt && present.dueAt === null))
        return structuredClone(present)
      rows.set(keyOf(task.account, task.id), structuredClone(task))
      return structuredClone(task)
    },
    async find(account, id, now) {
      const row = rows.get(keyOf(account, id))
      return row === undefined || row.expiresAt <= now ? undefined : structuredClone(row)
    },
    async replace(task) {
      if (rows.get(keyOf(task.account, task.id))?.version !== task.version - 1) return false
      rows.set(keyOf(task.account, task.id), structuredClone(task))
      return true
    },
    async claim({ now, leaseMs, limit }) {
      const due = [...rows].filter(([, row]) => row.dueAt !== null && row.dueAt <= now && row.leasedUntil <= now)
      due.sort(([, left], [, right]) => Number(left.dueAt) - Number(right.dueAt))
      return due.slice(0, limit).map(([key, row]) => {
        rows.set(key, { ...row, version: row.version + 1, leasedUntil: now + leaseMs })
        return structuredClone(rows.get(key) as TaskRecord)
      })
    },
  }
  return { rows, store }
}

const claimsWith = (change: (options: TaskClaim) => Partial<TaskClaim>) => {
  return (good: TaskStore): Partial<TaskStore> => ({
    claim: (options) => good.claim({ ...options, ...change(options) }),
  })
}

const faults: Fault<TaskStore>[] = [
  [
    'insert overwrites an existing task',
    (good) => ({
      insert: async (task) => {
        const present = await good.find(task.account, task.id, task.createdAt)
        if (present !== undefined) await good.replace({ ...task, version: present.version + 1 })
        return (await good.insert(task), task)
      },
    }),
    'a second insert changes nothing and returns the existing task',
  ],
  [
    'insert returns the first version after a change',
    (good) => ({ insert: async (task) => ({ ...(await good.insert(task)), version: 1 }) }),
    'an insert after a change returns the changed task',
  ],
  [
    'insert reads, waits and then writes',
    (good) => {
      const rows = new Map<string, TaskRecord>()
      return {
        insert: async (task) => {
          const key = JSON.stringify([task.account, task.id])
          const present = rows.get(key)
          await turn()
          if (present !== undefined) return good.insert(task)
          rows.set(key, task)
          await good.insert(task)
          return structuredClone(task)
        },
      }
    },
    'stores exactly one of many concurrent inserts of one id, and returns it to all',
  ],
  [
    'insert never replaces an expired task',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        insert: async (task) => rows.get(JSON.stringify([task.account, task.id])) ?? store.insert(task),
      }
    },
    'an insert replaces an expired task that is not due',
  ],
  [
    'insert replaces an expired task that is due',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        insert: async (task) => {
          const key = JSON.stringify([task.account, task.id])
          if ((rows.get(key)?.expiresAt ?? Infinity) <= task.createdAt) rows.delete(key)
          return store.insert(task)
        },
      }
    },
    'an insert does not replace an expired task that is still due',
  ],
  [
    'insert replaces a task one millisecond early',
    () => {
      const { store } = openStore()
      return { ...store, insert: (task) => store.insert({ ...task, createdAt: task.createdAt + 1 }) }
    },
    'an insert does not replace a task one millisecond before it expires',
  ],
  [
    'the account is not part of the key',
    () => openStore((_, id) => id).store,
    'the same id in two accounts is two tasks',
  ],
  [
    'account and id are joined by a colon',
    () => openStore((account, id) => `${account}:${id}`).store,
    'keeps account and id separate even if they join to the same text',
  ],
  [
    'find expires one millisecond late',
    (good) => ({ find: (account, id, now) => good.find(account, id, now - 1) }),
    'finds a task until it expires, to the millisecond',
  ],
  [
    'find uses its own clock',
    (good) => ({ find: (account, id) => good.find(account, id, Date.now()) }),
    'uses the times passed in, not its own clock',
  ],
  [
    'find reads a stale copy, one change old',
    (good) => {
      const old = new Map<string, TaskRecord>()
      return {
        replace: async (task) => {
          const before = await good.find(task.account, task.id, task.createdAt)
          if (before !== undefined) old.set(task.id, before)
          return good.replace(task)
        },
        find: async (account, id, now) => {
          const stale = old.get(id)
          old.delete(id)
          return stale ?? good.find(account, id, now)
        },
      }
    },
    'replaces the previous version, visible to every handle at once',
  ],
  [
    'replace ignores the version',
    (good) => ({
      replace: async (task) => {
        const present = await good.find(task.account, task.id, 0)
        return present !== undefined && good.replace({ ...task, version: present.version + 1 })
      },
    }),
    'does not replace any version but the previous one',
  ],
  [
    'replace inserts a task that does not exist',
    (good) => ({ replace: async (task) => (await good.insert(task), good.replace(task).then(() => true)) }),
    'does not replace a task that does not exist',
  ],
  [
    'replace reads, waits and then writes',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        replace: async (task) => {
          const key = JSON.stringify([task.account, task.id])
          const fits = rows.get(key)?.version === task.version - 1
          await turn()
          if (fits) rows.set(key, structuredClone(task))
          return fits
        },
      }
    },
    'exactly one of many concurrent replaces of one version succeeds',
  ],
  [
    'replace drops the due time',
    (good) => ({ replace: (task) => good.replace({ ...task, dueAt: null, leasedUntil: 0 }) }),
    'replaces the previous version, visible to every handle at once',
  ],
  [
    'replace rejects expired tasks',
    (good) => ({
      replace: async (task) => {
        const present = await good.find(task.account, task.id, task.createdAt + 25 * 3_600_000)
        return present === undefined && task.version > 2 ? false : good.replace(task)
      },
    }),
    'replaces a task that has expired',
  ],
  [
    'copies are shallow',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        find: async (account, id) => {
          const row = rows.get(JSON.stringify([account, id]))
          return row && { ...row }
        },
      }
    },
    'is not affected by later changes to objects passed in or returned',
  ],
  [
    'data becomes text',
    (good) => ({
      find: async (account, id, now) => {
        const found = await good.find(account, id, now)
        return found && { ...found, data: JSON.stringify(found.data) }
      },
    }),
    'finds a task as it was inserted',
  ],
  [
    'null data is lost',
    (good) => ({
      find: async (account, id, now) => {
        const found = await good.find(account, id, now)
        return found && { ...found, data: found.data ?? {} }
      },
    }),
    'keeps every JSON value unchanged',
  ],
  [
    'text is stored as latin1',
    (good) => ({
      insert: (task) =>
        good.insert({ ...task, data: JSON.parse(Buffer.from(JSON.stringify(task.data), 'latin1').toString('latin1')) }),
    }),
    'keeps any text unchanged, in data and in accounts',
  ],
  [
    'data over 64 KiB is dropped',
    (good) => ({
      insert: (task) => good.insert(JSON.stringify(task.data).length > 65_536 ? { ...task, data: null } : task),
    }),
    'stores 20 MiB of data',
  ],
  [
    'claim takes tasks that are never due',
    () => {
      const { store } = openStore()
      return { ...store, insert: (task) => store.insert({ ...task, dueAt: task.dueAt ?? 0 }) }
    },
    'claims tasks from their due time on, to the millisecond, and no others',
  ],
  [
    'claim returns tasks without leasing them',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        claim: async ({ now, limit }) =>
          [...rows.values()]
            .filter((row) => row.dueAt !== null && row.dueAt <= now)
            .slice(0, limit)
            .map((row) => structuredClone(row)),
      }
    },
    'does not claim a task again before its lease expires',
  ],
  [
    'claim does not increment the version',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        claim: async (options) =>
          (await store.claim(options)).map((each) => {
            const same = { ...each, version: each.version - 1 }
            rows.set(JSON.stringify([each.account, each.id]), structuredClone(same))
            return same
          }),
      }
    },
    'a claim makes a later replace of the version before it fail',
  ],
  [
    'claim returns the task as it was before',
    (good) => ({ claim: async (options) => (await good.claim(options)).map((each) => ({ ...each, leasedUntil: 0 })) }),
    'claims tasks from their due time on, to the millisecond, and no others',
  ],
  [
    'claim ignores the limit',
    claimsWith(() => ({ limit: 1_000 })),
    'claims the longest overdue first, up to the limit',
  ],
  [
    'claim takes the newest first',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        claim: async (options) => {
          const due = [...rows.values()].filter(
            (row) => row.dueAt !== null && row.dueAt <= options.now && row.leasedUntil <= options.now,
          )
          due.sort((left, right) => Number(right.dueAt) - Number(left.dueAt))
          return due.slice(0, options.limit).map((row) => {
            const claimed = { ...row, version: row.version + 1, leasedUntil: options.now + options.leaseMs }
            rows.set(JSON.stringify([row.account, row.id]), claimed)
            return structuredClone(claimed)
          })
        },
      }
    },
    'claims the longest overdue first, up to the limit',
  ],
  [
    'claim reads, waits and then leases',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        claim: async (options) => {
          const due = [...rows.values()]
            .filter((row) => row.dueAt !== null && row.dueAt <= options.now && row.leasedUntil <= options.now)
            .slice(0, options.limit)
          await turn()
          return due.map((row) => {
            const claimed = { ...row, version: row.version + 1, leasedUntil: options.now + options.leaseMs }
            rows.set(JSON.stringify([row.account, row.id]), claimed)
            return structuredClone(claimed)
          })
        },
      }
    },
    'gives every due task to exactly one of many concurrent claims',
  ],
  [
    'claim deletes expired tasks that are due',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        claim: async (options) => {
          for (const [key, row] of rows) if (row.expiresAt <= options.now) rows.delete(key)
          return store.claim(options)
        },
      }
    },
    'keeps an expired task claimable while it is due',
  ],
  [
    'claim deletes finished tasks before they expire',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        claim: async (options) => {
          for (const [key, row] of rows) if (row.dueAt === null) rows.delete(key)
          return store.claim(options)
        },
      }
    },
    'claims do not remove tasks that have not expired',
  ],
  [
    'list shows expired tasks',
    (good) => ({ list: (account, options) => good.list?.(account, { ...options, now: 0 }) as Promise<TaskRecord[]> }),
    'list, if present, returns the tasks of an account in pages, ordered by creation',
  ],
  [
    'list starts with the task named in after',
    (good) => ({
      list: async (account, { after, ...options }) => {
        const all = (await good.list?.(account, { ...options, limit: 100 })) ?? []
        return all
          .slice(
            Math.max(
              all.findIndex((each) => each.id === after),
              0,
            ),
          )
          .slice(0, options.limit)
      },
    }),
    'list, if present, returns the tasks of an account in pages, ordered by creation',
  ],
  [
    'now goes backwards',
    () => {
      let time = 5_000
      return { now: async () => (time -= 1_000) }
    },
    'now, if present, does not go backwards',
  ],
]

describe('the kit', () => {
  plant(testTaskStore, memoryTaskStore, faults)

  test('passes on a simple store', async () => {
    expect(await failuresOf((run) => testTaskStore(run, () => openStore().store))).toEqual([])
  })
})

/** Ways in which databases compare text by default. */
test.each<[string, (text: string) => string]>([
  ['case', (text) => text.toLowerCase()],
  ['trailing spaces', (text) => text.replace(/ +$/, '')],
  ['accents', (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '')],
])('finds a collation that ignores %s, in accounts and in ids', async (_, fold) => {
  const folded = (account: (text: string) => string, id: (text: string) => string) =>
    failuresOf(
      (run) => testTaskStore(run, () => openStore((left, right) => JSON.stringify([account(left), id(right)])).store),
      'compares accounts and ids byte for byte: case, accents and spaces count',
    )
  const exact = (text: string) => text
  expect(await folded(exact, exact)).toEqual([])
  expect(await folded(fold, exact)).not.toEqual([])
  expect(await folded(exact, fold)).not.toEqual([])
})

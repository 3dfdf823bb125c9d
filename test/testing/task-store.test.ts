import { describe, expect, test } from 'vitest'
import type { TaskClaim, TaskRecord, TaskStore } from '../../src/tasks/contract.ts'
import { memoryTaskStore } from '../../src/tasks/memory.ts'
import { testTaskStore } from '../../src/testing/task-store.ts'
import { failuresOf, plant, turn, type Fault } from './faults.ts'

/** A plain store that faults can reach into. */
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
    'insert overwrites what is there',
    (good) => ({
      insert: async (task) => {
        const present = await good.find(task.account, task.id, task.createdAt)
        if (present !== undefined) await good.replace({ ...task, version: present.version + 1 })
        return (await good.insert(task), task)
      },
    }),
    'gives the task that is there to a second insert',
  ],
  [
    'insert gives back what it was given',
    (good) => ({ insert: async (task) => (await good.insert(task), task) }),
    'gives the task that is there',
  ],
  [
    'insert gives the first version after a change',
    (good) => ({ insert: async (task) => ({ ...(await good.insert(task)), version: 1 }) }),
    'gives the changed task to an insert',
  ],
  [
    'insert looks, waits and then writes',
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
    'stores exactly one of many inserts',
  ],
  [
    'insert never makes way for an expired task',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        insert: async (task) => rows.get(JSON.stringify([task.account, task.id])) ?? store.insert(task),
      }
    },
    'inserts anew in place of a task that has expired',
  ],
  [
    'insert makes way for an expired task that is due',
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
    'does not insert over an expired task that is still due',
  ],
  [
    'insert makes way one millisecond early',
    () => {
      const { store } = openStore()
      return { ...store, insert: (task) => store.insert({ ...task, createdAt: task.createdAt + 1 }) }
    },
    'still found one millisecond before it expires',
  ],
  ['the account is not part of the key', () => openStore((_, id) => id).store, 'keeps accounts apart'],
  [
    'account and id are joined by a colon',
    () => openStore((account, id) => `${account}:${id}`).store,
    'does not confuse an account and an id',
  ],
  [
    'find forgets nothing',
    (good) => ({ find: (account, id) => good.find(account, id, 0) }),
    'until the millisecond before it expires',
  ],
  [
    'find expires one millisecond late',
    (good) => ({ find: (account, id, now) => good.find(account, id, now - 1) }),
    'until the millisecond before it expires',
  ],
  [
    'find expires one millisecond early',
    (good) => ({ find: (account, id, now) => good.find(account, id, now + 1) }),
    'until the millisecond before it expires',
  ],
  [
    'find looks at its own clock',
    (good) => ({ find: (account, id) => good.find(account, id, Date.now()) }),
    'goes by the times it is given',
  ],
  [
    'find reads a copy that is one change old',
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
    'shows the change to everybody at once',
  ],
  [
    'replace ignores the version',
    (good) => ({
      replace: async (task) => {
        const present = await good.find(task.account, task.id, 0)
        return present !== undefined && good.replace({ ...task, version: present.version + 1 })
      },
    }),
    'replaces nothing that has another version',
  ],
  [
    'replace takes any newer version',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        replace: async (task) => {
          const key = JSON.stringify([task.account, task.id])
          if ((rows.get(key)?.version ?? Infinity) >= task.version) return false
          rows.set(key, structuredClone(task))
          return true
        },
      }
    },
    'replaces nothing that has another version',
  ],
  [
    'replace says true when it did nothing',
    (good) => ({ replace: async (task) => (await good.replace(task), true) }),
    'replaces nothing that has another version',
  ],
  [
    'replace inserts what is not there',
    (good) => ({ replace: async (task) => (await good.insert(task), good.replace(task).then(() => true)) }),
    'replaces nothing that is not there',
  ],
  [
    'replace looks, waits and then writes',
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
    'lets exactly one of many replaces',
  ],
  [
    'replace drops the due time',
    (good) => ({ replace: (task) => good.replace({ ...task, dueAt: null, leasedUntil: 0 }) }),
    'shows the change',
  ],
  [
    'replace keeps the old expiry',
    (good) => ({
      replace: async (task) => {
        const before = await good.find(task.account, task.id, 0)
        return good.replace({ ...task, expiresAt: before?.expiresAt ?? task.expiresAt })
      },
    }),
    'shows the change to everybody',
  ],
  [
    'replace refuses expired tasks',
    (good) => ({
      replace: async (task) => {
        const present = await good.find(task.account, task.id, task.createdAt + 25 * 3_600_000)
        return present === undefined && task.version > 2 ? false : good.replace(task)
      },
    }),
    'replaces a task that has expired',
  ],
  [
    'objects are kept, not copied',
    () => {
      const { rows, store } = openStore()
      return {
        ...store,
        insert: async (task) => (rows.set(JSON.stringify([task.account, task.id]), task), task),
        find: async (account, id) => rows.get(JSON.stringify([account, id])),
      }
    },
    'is not changed through the objects',
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
    'is not changed through the objects',
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
    'keeps every JSON value',
  ],
  [
    'text is kept as latin1',
    (good) => ({
      insert: (task) =>
        good.insert({ ...task, data: JSON.parse(Buffer.from(JSON.stringify(task.data), 'latin1').toString('latin1')) }),
    }),
    'keeps any text',
  ],
  [
    'data is cut at 64 KiB',
    (good) => ({
      insert: (task) => good.insert(JSON.stringify(task.data).length > 65_536 ? { ...task, data: null } : task),
    }),
    'keeps 20 MiB',
  ],
  [
    'claim takes what is due one millisecond later',
    claimsWith(({ now }) => ({ now: now + 1 })),
    'claims what is due to the millisecond',
  ],
  [
    'claim takes tasks that are never due',
    () => {
      const { store } = openStore()
      return { ...store, insert: (task) => store.insert({ ...task, dueAt: task.dueAt ?? 0 }) }
    },
    'claims what is due to the millisecond',
  ],
  [
    'claim gives tasks without leasing them',
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
    'claims no task again before its lease',
  ],
  [
    'claim does not raise the version',
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
    'makes a claim beat whoever read the task before it',
  ],
  [
    'claim gives the task as it was before',
    (good) => ({ claim: async (options) => (await good.claim(options)).map((each) => ({ ...each, leasedUntil: 0 })) }),
    'claims what is due to the millisecond',
  ],
  ['claim ignores the limit', claimsWith(() => ({ limit: 1_000 })), 'no more than asked for'],
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
    'claims the longest due first',
  ],
  [
    'claim looks, waits and then leases',
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
    'gives every due task to exactly one of many claims',
  ],
  ['claim leases for ever', claimsWith(() => ({ leaseMs: 1e12 })), 'claims no task again before its lease'],
  [
    'claim passes over expired tasks',
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
    'claims an expired task that is still due',
  ],
  [
    'claim forgets finished tasks before they expire',
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
    'does not forget a task that has not expired',
  ],
  [
    'list shows expired tasks',
    (good) => ({ list: (account, options) => good.list?.(account, { ...options, now: 0 }) as Promise<TaskRecord[]> }),
    'lists the tasks of an account',
  ],
  [
    'list begins with the task it was asked to begin after',
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
    'lists the tasks of an account',
  ],
  [
    'now stands still in the past',
    () => {
      let time = 5_000
      return { now: async () => (time -= 1_000) }
    },
    'tells a time',
  ],
]

describe('the kit', () => {
  plant(testTaskStore, memoryTaskStore, faults)

  test('passes on the plain store', async () => {
    expect(await failuresOf((run) => testTaskStore(run, () => openStore().store))).toEqual([])
  })
})

/** How databases compare texts unless they are told otherwise. */
test.each<[string, (text: string) => string]>([
  ['case', (text) => text.toLowerCase()],
  ['spaces at the end', (text) => text.replace(/ +$/, '')],
  ['accents', (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '')],
])('a collation that disregards %s is found, in accounts as in ids', async (_, fold) => {
  const folded = (account: (text: string) => string, id: (text: string) => string) =>
    failuresOf(
      (run) => testTaskStore(run, () => openStore((left, right) => JSON.stringify([account(left), id(right)])).store),
      'takes no other account and no other id',
    )
  const exact = (text: string) => text
  expect(await folded(exact, exact)).toEqual([])
  expect(await folded(fold, exact)).not.toEqual([])
  expect(await folded(exact, fold)).not.toEqual([])
})

import { checkKnown, count as atLeastOne } from '../records/known-options.ts'
import { GatewayError } from '../errors.ts'
import { copyJson } from '../wire/json.ts'
import type { TaskRecord, TaskStore } from './contract.ts'

/** Options of `memoryTaskStore`. */
export interface MemoryTaskStoreOptions {
  /** Maximum number of tasks; further submissions are rejected with 503. Default 10,000. */
  readonly count?: number
}

/** A task store in the memory of this process. Tasks are lost on restart. */
export function memoryTaskStore(options: MemoryTaskStoreOptions = {}): TaskStore {
  checkKnown('memoryTaskStore', options, { count: atLeastOne })
  const { count = 10_000 } = options
  const tasks = new Map<string, TaskRecord>()

  const forgetExpired = (now: number) => {
    for (const [key, task] of tasks) if (isOver(task, now)) tasks.delete(key)
  }

  return {
    async insert(task) {
      const key = keyOf(task.account, task.id)
      const present = tasks.get(key)
      if (present !== undefined && !isOver(present, task.createdAt)) return copy(present)
      if (present === undefined && tasks.size >= count) forgetExpired(task.createdAt)
      if (present === undefined && tasks.size >= count) {
        const message = 'Too many tasks are in progress. Try again later.'
        throw new GatewayError('service_unavailable', { message, retryAfterMs: 60_000 })
      }
      tasks.set(key, copy(task))
      return copy(task)
    },
    async find(account, id, now) {
      const task = tasks.get(keyOf(account, id))
      return task === undefined || task.expiresAt <= now ? undefined : copy(task)
    },
    async replace(task) {
      const key = keyOf(task.account, task.id)
      if (tasks.get(key)?.version !== task.version - 1) return false
      tasks.set(key, copy(task))
      return true
    },
    async claim({ now, leaseMs, limit }) {
      const due: [string, TaskRecord][] = []
      for (const [key, task] of tasks) {
        if (isOver(task, now)) tasks.delete(key)
        else if (task.dueAt !== null && task.dueAt <= now && task.leasedUntil <= now) due.push([key, task])
      }
      due.sort(([, left], [, right]) => (left.dueAt as number) - (right.dueAt as number))
      return due.slice(0, limit).map(([key, task]) => {
        const claimed = { ...task, version: task.version + 1, leasedUntil: now + leaseMs }
        tasks.set(key, claimed)
        return copy(claimed)
      })
    },
    async countDue(now, most) {
      let count = 0
      for (const { dueAt, leasedUntil } of tasks.values()) {
        if (dueAt !== null && dueAt <= now && leasedUntil <= now && ++count >= most) break
      }
      return count
    },
    async list(account, { now, limit, after, order }) {
      const own = [...tasks.values()].filter((task) => task.account === account && task.expiresAt > now)
      own.sort((left, right) => left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1))
      if (order === 'desc') own.reverse()
      const start = after === undefined ? 0 : own.findIndex((task) => task.id === after) + 1
      if (after !== undefined && start === 0) return []
      return own.slice(start, start + limit).map((task) => copy(task))
    },
    async search({ now, limit, after }) {
      const open = [...tasks.values()].filter((task) => task.expiresAt > now)
      const rest = after === undefined ? open : open.filter((task) => newestFirst(after, task) < 0)
      return rest
        .sort(newestFirst)
        .slice(0, limit)
        .map((task) => copy(task))
    },
    async close() {
      tasks.clear()
    },
  }
}

type Place = Pick<TaskRecord, 'createdAt' | 'account' | 'id'>

function newestFirst(left: Place, right: Place): number {
  if (left.createdAt !== right.createdAt) return right.createdAt - left.createdAt
  if (left.account !== right.account) return left.account < right.account ? 1 : -1
  return left.id === right.id ? 0 : left.id < right.id ? 1 : -1
}

function copy(task: TaskRecord): TaskRecord {
  return { ...task, data: copyJson(task.data) }
}

function isOver(task: TaskRecord, now: number): boolean {
  return task.expiresAt <= now && task.dueAt === null
}

function keyOf(account: string, id: string): string {
  return JSON.stringify([account, id])
}

/** The embedded task store: in this process, bounded, and lost with it. */
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../errors.ts'
import type { TaskRecord, TaskStore } from './contract.ts'

export interface MemoryTaskStoreOptions {
  /** Tasks at most; beyond them new ones are refused with 503. Default 10,000. */
  readonly size?: number
}

export function memoryTaskStore({ size = 10_000 }: MemoryTaskStoreOptions = {}): TaskStore {
  // The cache never evicts on its own: room is made only of tasks that nobody can ask for any more.
  const tasks = new LRUCache<string, TaskRecord>({ max: size })

  const forgetExpired = (now: number) => {
    for (const [key, task] of tasks) if (isOver(task, now)) tasks.delete(key)
  }

  return {
    async insert(task) {
      const key = keyOf(task.tenant, task.id)
      const present = tasks.peek(key)
      if (present !== undefined && !isOver(present, task.createdAt)) return copy(present)
      if (present === undefined && tasks.size >= size) forgetExpired(task.createdAt)
      if (present === undefined && tasks.size >= size) {
        const message = 'Too many tasks are under way. Try again when some have finished.'
        throw new GatewayError('service_unavailable', { message, retryAfterMs: 60_000 })
      }
      tasks.set(key, copy(task))
      return copy(task)
    },
    async find(tenant, id, now) {
      const task = tasks.peek(keyOf(tenant, id))
      return task === undefined || task.expiresAt <= now ? undefined : copy(task)
    },
    async replace(task) {
      const key = keyOf(task.tenant, task.id)
      if (tasks.peek(key)?.version !== task.version - 1) return false
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
    async list(tenant, { now, limit, after, order }) {
      const own = [...tasks.values()].filter((task) => task.tenant === tenant && task.expiresAt > now)
      own.sort((left, right) => left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1))
      if (order === 'desc') own.reverse()
      const start = after === undefined ? 0 : own.findIndex((task) => task.id === after) + 1
      if (after !== undefined && start === 0) return []
      return own.slice(start, start + limit).map((task) => copy(task))
    },
    async close() {
      tasks.clear()
    },
  }
}

/** A task is JSON, and this is the quickest way to copy that. */
function copy(task: TaskRecord): TaskRecord {
  return { ...task, data: JSON.parse(JSON.stringify(task.data)) as TaskRecord['data'] }
}

function isOver(task: TaskRecord, now: number): boolean {
  return task.expiresAt <= now && task.dueAt === null
}

function keyOf(tenant: string, id: string): string {
  return JSON.stringify([tenant, id])
}

/** Task records for the task store suite. */
import type { TaskRecord } from '../tasks/contract.ts'

export const hour: number = 60 * 60_000
/** Far from the machine's time, so that a store that uses its own clock fails. */
export const start: number = Date.UTC(2031, 0, 1)

let made = 0

export function task(changes: Partial<TaskRecord> = {}): TaskRecord {
  made++
  return {
    account: `account-${made}`,
    id: `task_${made}`,
    version: 1,
    createdAt: start,
    expiresAt: start + 24 * hour,
    dueAt: start + hour,
    leasedUntil: 0,
    data: { state: 'pending' },
    ...changes,
  }
}

export function next(record: TaskRecord, changes: Partial<TaskRecord> = {}): TaskRecord {
  return { ...record, ...changes, version: record.version + 1 }
}

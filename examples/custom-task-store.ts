/**
 * A task store of your own: a plain file, read and written as a whole. It suits one process and a few hundred tasks, and
 * shows what the contract requires. Node's test runner runs the conformance test on it:
 *
 *     npm run example -- --test examples/custom-task-store.ts
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { TaskRecord, TaskStore } from 'modelhatch/stores'

export function fileTaskStore(path: string): TaskStore {
  const read = (): TaskRecord[] => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [])
  const write = (tasks: TaskRecord[]) => {
    // If the process dies while it writes, the old file is still complete.
    writeFileSync(`${path}.new`, JSON.stringify(tasks))
    renameSync(`${path}.new`, path)
  }
  const same = (left: TaskRecord, account: string, id: string) => left.account === account && left.id === id
  const isOver = (task: TaskRecord, now: number) => task.expiresAt <= now && task.dueAt === null

  // Each method reads, decides and writes without awaiting anything in between, which is atomic within one process.
  return {
    async insert(task) {
      const tasks = read().filter((each) => !(same(each, task.account, task.id) && isOver(each, task.createdAt)))
      const present = tasks.find((each) => same(each, task.account, task.id))
      if (present === undefined) write([...tasks, task])
      return present ?? structuredClone(task)
    },
    async find(account, id, now) {
      return read().find((each) => same(each, account, id) && each.expiresAt > now)
    },
    async replace(task) {
      const tasks = read()
      const index = tasks.findIndex((each) => same(each, task.account, task.id))
      if (tasks[index]?.version !== task.version - 1) return false
      write(tasks.with(index, task))
      return true
    },
    async claim({ now, leaseMs, limit }) {
      const tasks = read().filter((each) => !isOver(each, now))
      const due = tasks
        .filter((each) => each.dueAt !== null && each.dueAt <= now && each.leasedUntil <= now)
        .sort((left, right) => Number(left.dueAt) - Number(right.dueAt))
        .slice(0, limit)
      const claimed = new Map(
        due.map((each) => [each, { ...each, version: each.version + 1, leasedUntil: now + leaseMs }]),
      )
      write(tasks.map((each) => claimed.get(each) ?? each))
      return [...claimed.values()]
    },
  }
}

// Started by the test runner, the file tests itself.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const { test } = await import('node:test')
  const { tmpdir } = await import('node:os')
  const { testTaskStore } = await import('modelhatch/testing')
  let made = 0
  testTaskStore(test, () => fileTaskStore(`${tmpdir()}/modelhatch-${process.pid}-${made++}.json`))
}

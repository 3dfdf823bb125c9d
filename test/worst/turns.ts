/** What a piece of work costs the event loop: CPU time of the thread, which says the same on a busy machine. */
import { setImmediate as nextTurn } from 'node:timers/promises'

export interface Spent<T> {
  readonly result: T
  /** Milliseconds of CPU that the longest turn of the event loop took. */
  readonly longestTurn: number
  /** Milliseconds of CPU of all turns together. */
  readonly total: number
}

export async function turnsOf<T>(work: () => Promise<T>): Promise<Spent<T>> {
  let longestTurn = 0
  let total = 0
  let before = cpu()
  const note = () => {
    const now = cpu()
    longestTurn = Math.max(longestTurn, now - before)
    total += now - before
    before = now
  }
  const working = work()
  const ended = working.then(
    () => true,
    () => true,
  )
  note()
  while (!(await Promise.race([ended, nextTurn(false)]))) note()
  note()
  return { result: await working, longestTurn, total }
}

/** Milliseconds of CPU of this thread; before Node 23.9 those of the whole process, its compiler and its collector included. */
export function cpu(): number {
  const usage = (process as Partial<typeof process>).threadCpuUsage?.() ?? process.cpuUsage()
  return (usage.user + usage.system) / 1_000
}

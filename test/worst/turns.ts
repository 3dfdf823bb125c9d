/** Event loop time of a piece of work, as CPU time of the thread: a clock would count the load of other processes too. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { cpuMs } from '../cpu-time.ts'

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
  let before = cpuMs()
  const note = () => {
    const now = cpuMs()
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

/** Measures the turns of the event loop in CPU time, which does not depend on how busy the machine is. */
import { cpuMs } from '../cpu-time.ts'

export interface Turns {
  /** Milliseconds of CPU of the longest turn since the last call, and of all turns. */
  readonly longest: number
  readonly total: number
}

/** The CPU time between two runs of a timer is that of the turns between them. */
const everyMs = 10

/** Calls `slow` after each turn of more than `limit` milliseconds. */
export function watchTurns(limit: number, slow: () => void): () => Turns {
  let before = cpuMs()
  let longest = 0
  let total = 0
  const note = () => {
    const now = cpuMs()
    longest = Math.max(longest, now - before)
    if (now - before > limit) slow()
    total += now - before
    before = now
  }
  setInterval(note, everyMs).unref()
  return () => {
    note()
    const turns = { longest, total }
    longest = total = 0
    return turns
  }
}

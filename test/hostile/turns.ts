/** How long the event loop of this process is kept busy: CPU time of its thread, which says the same on a busy machine. */
import { cpuMs } from '../cpu-time.ts'

export interface Turns {
  /** Milliseconds of CPU of the longest turn since the last call, and of all of them. */
  readonly longest: number
  readonly total: number
}

/** A timer that is late by a turn has used the CPU time of that turn. */
const everyMs = 10

/** `slow` is called after a turn that took longer than `limit` milliseconds. */
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

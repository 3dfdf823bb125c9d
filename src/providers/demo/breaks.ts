/** The pauses of the demo model. */
import { setImmediate as nextTurn, setTimeout as timer } from 'node:timers/promises'

/** Call it before each piece of work: after each 32,000 characters, numbers or pixels, the event loop gets a turn. */
export function breaks(): (work: number) => Promise<void> | undefined {
  let done = 0
  return (work) => {
    done += work
    if (done - work <= 32_000) return undefined
    done = work
    return nextTurn()
  }
}

/** The pause between two tokens. */
export async function pace({ signal }: { readonly signal: AbortSignal }, ms: number): Promise<void> {
  if (ms > 0) await timer(ms, undefined, { signal, ref: false })
}

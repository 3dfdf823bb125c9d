/** Retries commands during a failover, but only those that the server certainly has not executed. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Send, Sender } from './clients.ts'

/** Milliseconds for which a command is retried: less than the gateway's default timeout for stores. */
const patienceMs = 1_800
const pauseMs = 50
/** Milliseconds without an answer after which the client is made to look at the cluster again, and between two looks. */
const silenceMs = 100

/** Errors that mean that nothing of the command was executed. */
const refused =
  /\b(?:CLUSTERDOWN|MASTERDOWN|LOADING|TRYAGAIN|READONLY)\b|too many cluster redirections|disconnects client/i

export function patient({ send, refresh }: Sender, key: string): Send {
  const waiting = new Set<object>()
  let looking: NodeJS.Timeout | undefined
  const look = () => {
    clearTimeout(looking)
    looking = undefined
    if (waiting.size === 0) return
    refresh?.(key).catch(() => undefined)
    looking = setTimeout(look, silenceMs).unref()
  }

  const ask = async (words: string[]): Promise<unknown> => {
    if (refresh === undefined) return send(...words)
    const call = {}
    waiting.add(call)
    looking ??= setTimeout(look, silenceMs).unref()
    try {
      return await send(...words)
    } finally {
      waiting.delete(call)
    }
  }

  return async (...words) => {
    const late = performance.now() + patienceMs
    for (;;) {
      try {
        return await ask(words)
      } catch (error) {
        const message = error instanceof Error ? error.message : ''
        if (!refused.test(message) || performance.now() > late) throw error
        await pause(pauseMs, undefined, { ref: false })
      }
    }
  }
}

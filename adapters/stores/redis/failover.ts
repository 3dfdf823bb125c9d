/**
 * What a change of masters would refuse for seconds is waited for: a command that the server surely has not run is sent
 * again.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Send, Sender } from './clients.ts'

/** Milliseconds for which a command is sent again: less than the gateway waits for a store by default. */
const patienceMs = 1_800
const pauseMs = 50
/** Milliseconds without an answer after which the client is made to look at the cluster again, and between two looks. */
const silenceMs = 100

/** Refusals before anything of the command was done. */
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

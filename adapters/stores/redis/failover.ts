/** Retries commands during a failover if their error means that the server has not executed them. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Send, Sender } from './clients.ts'

/** Milliseconds for which a command is retried: less than the gateway's default timeout for stores. */
const retryMs = 1_800
const pauseMs = 50
/** Milliseconds between two refreshes of the client's view of the cluster, while commands wait for a reply. */
const refreshMs = 100

/**
 * Errors of commands that were not executed. The last one is node-redis dropping a node that has left the cluster: it also
 * fails the commands that this node has received but not replied to.
 */
const notExecuted =
  /\b(?:CLUSTERDOWN|MASTERDOWN|LOADING|TRYAGAIN|READONLY)\b|too many cluster redirections|disconnects client/i

export function retrying({ send, refresh }: Sender): Send {
  /** The keys of the commands that wait for a reply. */
  const waiting = new Set<{ readonly key: string }>()
  let timer: NodeJS.Timeout | undefined
  const refreshWhileWaiting = () => {
    clearTimeout(timer)
    timer = undefined
    const [oldest] = waiting
    if (oldest === undefined) return
    refresh?.(oldest.key).catch(() => undefined)
    timer = setTimeout(refreshWhileWaiting, refreshMs).unref()
  }

  const sendOnce = async (args: string[]): Promise<unknown> => {
    if (refresh === undefined) return send(...args)
    const command = { key: args[3] ?? '' }
    waiting.add(command)
    timer ??= setTimeout(refreshWhileWaiting, refreshMs).unref()
    try {
      return await send(...args)
    } finally {
      waiting.delete(command)
    }
  }

  return async (...args) => {
    const deadline = performance.now() + retryMs
    for (;;) {
      try {
        return await sendOnce(args)
      } catch (error) {
        const message = error instanceof Error ? error.message : ''
        if (!notExecuted.test(message) || performance.now() > deadline) throw error
        await pause(pauseMs, undefined, { ref: false })
      }
    }
  }
}

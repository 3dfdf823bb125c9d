/** The rest of a stream that another process sends, for a client that has lost the connection to that process. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Reply, Sink } from '../../http/exchange.ts'
import { keepAliveFrame, sseHeaders } from '../../http/sse.ts'
import type { IdempotencyStart } from './contract.ts'
import { replayed, type IdempotencySettings } from './keyed-request.ts'

/** Milliseconds between two questions to the store, and the number of them for each comment that keeps the connection open. */
const everyMs = 500
const askedPerComment = 20

interface Waiting extends Pick<IdempotencySettings, 'store' | 'guard' | 'observer'> {
  readonly client: AbortSignal
  /** Aborted at shutdown. */
  readonly closing: AbortSignal
}

/**
 * Sends what follows the event once the stream is stored. If it is not, because the other process has died or the stream has
 * failed, the connection is cut: the client's next attempt gets the error.
 */
export function restOnceEnded(start: IdempotencyStart, event: number, waiting: Waiting): Reply {
  const headers = { ...sseHeaders, 'idempotent-replayed': 'true' }
  return { status: 200, headers, body: { start: (sink) => void send(sink, start, event, waiting) } }
}

async function send(sink: Sink, start: IdempotencyStart, event: number, waiting: Waiting): Promise<void> {
  try {
    const rest = await restOf(sink, start, event, waiting)
    if (rest !== undefined) {
      sink.write(rest)
      return sink.end()
    }
  } catch (error) {
    if (!waiting.client.aborted && !waiting.closing.aborted) waiting.observer.failure({ id: start.attempt, error })
  }
  sink.destroy()
  sink.end(false)
}

async function restOf(sink: Sink, start: IdempotencyStart, event: number, waiting: Waiting) {
  const { store, guard, client, closing } = waiting
  const signal = AbortSignal.any([client, closing])
  for (let asked = 0; !sink.closed; asked++) {
    if (asked % askedPerComment === 0) sink.write(keepAliveFrame)
    await pause(everyMs, undefined, { signal, ref: false })
    const verdict = await guard.call(() => store.begin(start))
    if (verdict.outcome === 'ended') return verdict.answer && (replayed(verdict.answer, event).body as Uint8Array)
    if (verdict.outcome === 'begun') {
      await guard.call(() => store.forget(start))
      return undefined
    }
  }
  return undefined
}

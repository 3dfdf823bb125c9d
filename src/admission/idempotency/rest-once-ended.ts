/** The rest of a stream that another process sends, for a client that has lost the connection to that process. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Reply, Sink } from '../../http/exchange.ts'
import { keepAliveFrame, sseHeaders } from '../../http/sse.ts'
import type { IdempotencyStart } from './contract.ts'
import { replayed, type IdempotencySettings } from './keyed-request.ts'

/** Milliseconds between two questions to the store, and the number of them for each comment that keeps the connection open. */
const everyMs = 500
const askedPerComment = 20

/** Who waits for the rest of a stream. */
export interface Waiting extends Pick<IdempotencySettings, 'observer'> {
  /** Of the request. */
  readonly id: string
  readonly client: AbortSignal
  /** Aborted at shutdown. */
  readonly closing: AbortSignal
}

/**
 * Sends what follows the event once the stream is stored. If it is not, because the other process has died or the stream has
 * failed, the connection is cut: the client's next attempt gets the error.
 */
export function restOnceEnded(
  start: IdempotencyStart,
  event: number,
  { store, guard, ...waiting }: Waiting & Pick<IdempotencySettings, 'store' | 'guard'>,
): Reply {
  return onceThere({ ...waiting, headers: { 'idempotent-replayed': 'true' } }, async () => {
    const verdict = await guard.call(() => store.begin(start))
    if (verdict.outcome === 'running') return 'running'
    if (verdict.outcome === 'ended') return verdict.answer && (replayed(verdict.answer, event).body as Uint8Array)
    await guard.call(() => store.forget(start))
    return undefined
  })
}

/** What the rest of a stream is asked for: its bytes, once it has ended; undefined if it is lost. */
type Rest = () => Promise<Uint8Array | 'running' | undefined>

/** The rest of a stream as soon as it has ended. If it is lost, the connection is cut. */
export function onceThere(
  { headers, ...waiting }: Waiting & { readonly headers?: Reply['headers'] },
  rest: Rest,
): Reply {
  return {
    status: 200,
    headers: { ...sseHeaders, ...headers },
    body: { start: (sink) => void send(sink, rest, waiting) },
  }
}

async function send(sink: Sink, ask: Rest, waiting: Waiting): Promise<void> {
  try {
    const rest = await restOf(sink, ask, waiting)
    if (rest !== undefined) {
      sink.write(rest)
      return sink.end()
    }
  } catch (error) {
    if (!waiting.client.aborted && !waiting.closing.aborted) waiting.observer.failure({ id: waiting.id, error })
  }
  sink.destroy()
  sink.end(false)
}

async function restOf(sink: Sink, ask: Rest, { client, closing }: Waiting): Promise<Uint8Array | undefined> {
  const signal = AbortSignal.any([client, closing])
  for (let asked = 0; !sink.closed; asked++) {
    if (asked % askedPerComment === 0) sink.write(keepAliveFrame)
    await pause(everyMs, undefined, { signal, ref: false })
    const rest = await ask()
    if (rest !== 'running') return rest
  }
  return undefined
}

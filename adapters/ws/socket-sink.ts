import type { Duplex } from 'node:stream'
import type { Sink } from '../../src/index.ts'
import type { Drain } from './drain.ts'
import { EventData } from './event-data.ts'
import { ignore } from '../../src/http/ignore.ts'
import { asText, type WebSocketLike } from './web-socket.ts'

export interface SinkOptions {
  readonly ws: WebSocketLike
  readonly socket: Duplex
  readonly drain: Drain
  /** Put into every event. */
  readonly lane: string | undefined
  /** Put into the first event: messages have no headers. */
  readonly requestId: string | undefined
  /** Called once the response is over, by its end or because the socket was closed. */
  readonly ended: () => void
}

/** Where the events of one response go: each is one text message. */
export class SocketSink implements Sink {
  readonly #ws: WebSocketLike
  readonly #socket: Duplex
  readonly #drain: Drain
  readonly #events = new EventData()
  /** Put into every event, as JSON. */
  readonly #lane: string
  /** Put into the next event, as JSON. */
  #requestId: string
  readonly #ended: () => void

  constructor({ ws, socket, drain, lane, requestId, ended }: SinkOptions) {
    this.#ws = ws
    this.#socket = socket
    this.#drain = drain
    this.#lane = field('stream_id', lane)
    this.#requestId = field('request_id', requestId)
    this.#ended = ended
  }

  get closed(): boolean {
    return this.#ws.readyState !== this.#ws.OPEN
  }

  get unsent(): number | undefined {
    return this.#drain.unsent
  }

  write(piece: string | Uint8Array): boolean {
    if (this.closed) return true
    // All events of a piece leave with one system call.
    this.#socket.cork()
    for (const data of this.#events.take(piece)) this.#ws.send(this.#extended(data), asText, ignore)
    this.#socket.uncork()
    return !this.#socket.writableNeedDrain
  }

  drained(): Promise<void> {
    return this.closed ? Promise.resolve() : this.#drain.drained()
  }

  end(): void {
    this.#ended()
  }

  destroy(): void {
    this.#ws.terminate()
  }

  #extended(data: Buffer): Buffer | string {
    const more = this.#lane + this.#requestId
    this.#requestId = ''
    return more === '' ? data : `{${more}${data.toString('utf8', 1)}`
  }
}

function field(name: string, value: string | undefined): string {
  return value === undefined ? '' : `"${name}":${JSON.stringify(value)},`
}

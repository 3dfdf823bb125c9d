import type { Duplex } from 'node:stream'
import type { Sink } from '../../src/index.ts'
import type { Drain } from './drain.ts'
import { EventData } from './event-data.ts'
import type { WebSocketLike } from './web-socket.ts'

export interface SinkOptions {
  readonly ws: WebSocketLike
  readonly socket: Duplex
  readonly drain: Drain
  /** Put into every event. */
  readonly lane: string | undefined
  /** Called once the response is over, by its end or because the socket was closed. */
  readonly ended: () => void
}

/** Where the events of one response go: each is one text message. */
export class SocketSink implements Sink {
  readonly #ws: WebSocketLike
  readonly #socket: Duplex
  readonly #drain: Drain
  readonly #events = new EventData()
  /** Put into every event. */
  readonly #lane: string | undefined
  readonly #ended: () => void

  constructor({ ws, socket, drain, lane, ended }: SinkOptions) {
    this.#ws = ws
    this.#socket = socket
    this.#drain = drain
    this.#lane = lane === undefined ? undefined : `{"stream_id":${JSON.stringify(lane)},`
    this.#ended = ended
  }

  get closed(): boolean {
    return this.#ws.readyState !== this.#ws.OPEN
  }

  write(piece: string | Uint8Array): boolean {
    if (this.closed) return true
    // All events of a piece leave with one system call.
    this.#socket.cork()
    for (const data of this.#events.take(piece)) this.#ws.send(this.#inLane(data), asText, ignore)
    this.#socket.uncork()
    return !this.#socket.writableNeedDrain
  }

  drained(): Promise<void> {
    return this.closed ? Promise.resolve() : this.#drain.wait()
  }

  end(): void {
    this.#ended()
  }

  destroy(): void {
    this.#ws.terminate()
  }

  #inLane(data: Buffer): Buffer | string {
    return this.#lane === undefined ? data : this.#lane + data.toString('utf8', 1)
  }
}

const asText = { binary: false }

/** Failed writes are reported by the socket's `close`. */
function ignore(): void {}

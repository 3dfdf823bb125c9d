import type { Duplex } from 'node:stream'
import type { Sink } from '../../src/index.ts'
import { EventData } from './event-data.ts'
import type { WebSocketLike } from './web-socket.ts'

/** Where the events of one response go: each is one text message. */
export class SocketSink implements Sink {
  readonly #ws: WebSocketLike
  readonly #socket: Duplex
  readonly #events = new EventData()
  /** Put into every event. */
  readonly #lane: string | undefined
  readonly #ended: () => void

  /** `ended`: called once the response is over, by its end or because the socket was closed. */
  constructor(ws: WebSocketLike, socket: Duplex, lane: string | undefined, ended: () => void) {
    this.#ws = ws
    this.#socket = socket
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
    const socket = this.#socket
    if (this.closed || !socket.writableNeedDrain) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        socket.off('drain', done).off('close', done)
        resolve()
      }
      socket.once('drain', done).once('close', done)
    })
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

import type { Duplex } from 'node:stream'
import { ignore } from '../../src/http/ignore.ts'
import type { WebSocketLike } from './web-socket.ts'

/** Pings of one client between two checks. */
const mostPings = 1_000

/** Close code of RFC 6455 for a policy violation. */
const policyViolation = 1008

/**
 * Answers pings. One that arrives while the client does not read is answered later, and only the last one, as RFC 6455
 * allows: answers to all of them would fill the memory.
 */
export class Pongs {
  readonly #ws: WebSocketLike
  readonly #socket: Duplex
  #pings = 0
  #unanswered: Buffer | undefined

  constructor(ws: WebSocketLike, socket: Duplex) {
    this.#ws = ws
    this.#socket = socket
    socket.on('drain', () => this.#answer())
  }

  ping(data: Buffer): void {
    if (++this.#pings > mostPings) return this.#ws.close(policyViolation, 'too many pings')
    this.#unanswered = data
    if (!this.#socket.writableNeedDrain) this.#answer()
  }

  /** Counts anew. */
  reset(): void {
    this.#pings = 0
  }

  #answer(): void {
    const data = this.#unanswered
    this.#unanswered = undefined
    if (data !== undefined && this.#ws.readyState === this.#ws.OPEN) this.#ws.pong(data, undefined, ignore)
  }
}

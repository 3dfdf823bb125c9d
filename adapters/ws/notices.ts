import type { Drain } from './drain.ts'
import { ignore } from '../../src/http/ignore.ts'
import { asText, type WebSocketLike } from './web-socket.ts'

/**
 * Sends messages that belong to no response. A client can cause any number of them: while it does not read them, nothing
 * more of it is read.
 */
export class Notices {
  readonly #ws: WebSocketLike
  readonly #drain: Drain
  #isWaiting = false

  constructor(ws: WebSocketLike, drain: Drain) {
    this.#ws = ws
    this.#drain = drain
  }

  send(message: string | Uint8Array): void {
    if (this.#ws.readyState !== this.#ws.OPEN) return
    this.#ws.send(message, asText, ignore)
    if (this.#drain.isNeeded && !this.#isWaiting) void this.#wait()
  }

  /** Never rejects. */
  async #wait(): Promise<void> {
    this.#isWaiting = true
    this.#ws.pause()
    await this.#drain.waitBriefly()
    this.#isWaiting = false
    this.#ws.resume()
  }
}

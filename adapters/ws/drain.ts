import type { Duplex } from 'node:stream'
import { drained } from '../../src/http/byte-stream.ts'
import { unsentOf } from '../hosts/unsent.ts'

/** Waits for the `drain` event of a socket, with one listener for all responses that write to it. */
export class Drain {
  readonly #socket: Duplex
  readonly #stallMs: number
  #waiting: Promise<void> | undefined

  /** `stallMs`: milliseconds in which a client may read nothing. */
  constructor(socket: Duplex, stallMs: number) {
    this.#socket = socket
    this.#stallMs = stallMs
  }

  /** Whether the socket takes no more for now. */
  get isNeeded(): boolean {
    return !this.#socket.destroyed && this.#socket.writableNeedDrain
  }

  /** Resolves once there is room, or the socket has closed. */
  drained(): Promise<void> {
    if (!this.isNeeded) return Promise.resolve()
    const socket = this.#socket
    return (this.#waiting ??= new Promise((resolve) => {
      const done = () => {
        socket.off('drain', done).off('close', done)
        this.#waiting = undefined
        resolve()
      }
      socket.once('drain', done).once('close', done)
    }))
  }

  /** The same. Cuts the connection if the client does not read in time. */
  async waitBriefly(): Promise<void> {
    if (this.isNeeded) await drained(this, this.#stallMs)
  }

  get unsent(): number | undefined {
    return unsentOf(this.#socket)
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

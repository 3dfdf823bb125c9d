import type { Duplex } from 'node:stream'
import type { Sockets } from './sockets.ts'

/** Bytes of a frame of a client around its data, if that is at most 125 bytes long. */
const frameBytes = 6

/** Counts what has arrived of messages that are not complete. The package `ws` reports only complete ones. */
export class IncompleteMessages {
  readonly #socket: Duplex
  readonly #sockets: Sockets
  #bytes = 0
  #since = 0

  /** `excess`: called if all sockets together keep too much. */
  constructor(socket: Duplex, sockets: Sockets, excess: () => void) {
    this.#socket = socket
    this.#sockets = sockets
    // Before the listener that takes complete messages out of the same data.
    socket.prependListener('data', (data: Buffer) => {
      this.#bytes += data.length
      this.#since = performance.now()
      if (!sockets.keep(data.length)) excess()
    })
  }

  /** A message is complete. More may have arrived with it, which counts with the next data. */
  message(): void {
    this.#drop(this.#bytes)
  }

  /** A ping or pong is complete, which may arrive within a message. */
  control(data: Buffer): void {
    this.#drop(Math.min(this.#bytes, data.length + frameBytes))
  }

  /** Whether a message has begun and nothing more of it has arrived for `ms` milliseconds. */
  isStuck(now: number, ms: number): boolean {
    return this.#bytes > 0 && now - this.#since >= ms && !this.#socket.isPaused()
  }

  close(): void {
    this.#drop(this.#bytes)
  }

  #drop(bytes: number): void {
    this.#bytes -= bytes
    this.#sockets.drop(bytes)
  }
}

import type { Duplex } from 'node:stream'

/** Waits for the `drain` event of a socket, with one listener for all responses that write to it. */
export class Drain {
  readonly #socket: Duplex
  #waiting: Promise<void> | undefined

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  /** Resolves once there is room, or the socket has closed. */
  wait(): Promise<void> {
    const socket = this.#socket
    if (socket.destroyed || !socket.writableNeedDrain) return Promise.resolve()
    return (this.#waiting ??= new Promise((resolve) => {
      const done = () => {
        socket.off('drain', done).off('close', done)
        this.#waiting = undefined
        resolve()
      }
      socket.once('drain', done).once('close', done)
    }))
  }
}

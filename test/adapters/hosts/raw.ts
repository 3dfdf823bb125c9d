/** HTTP/1.1 by hand, for requests that a client library would not send. */
import { connect, type Socket } from 'node:net'
import type { Answer } from './client.ts'

/** One connection. Responses are read in order. */
export class RawConnection {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #closed = false
  readonly #waiting = new Set<() => void>()

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('data', (piece) => {
      this.#received = Buffer.concat([this.#received, piece])
      this.#notify()
    })
    // The connection may be reset after the response.
    this.socket.on('error', () => undefined)
    this.socket.on('close', () => {
      this.#closed = true
      this.#notify()
    })
  }

  /** Resolves when the operating system has accepted all bytes, or the connection is closed. */
  send(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => this.socket.write(bytes, () => resolve()))
  }

  /** The next response. Rejects if the connection ends before it is complete. */
  async answer(): Promise<Answer> {
    const end = await this.#until(() => this.#received.indexOf('\r\n\r\n'))
    const [statusLine = '', ...lines] = this.#received.toString('latin1', 0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    ) as Record<string, string>
    this.#received = this.#received.subarray(end + 4)
    const status = Number(statusLine.split(' ')[1])
    if (status < 200) return { status, headers, body: '' }
    const size = headers['content-length'] === undefined ? 0 : Number(headers['content-length'])
    if (headers['transfer-encoding'] === undefined) {
      await this.#until(() => (this.#received.length >= size ? 0 : -1))
      return { status, headers, body: this.#take(size).toString('utf8') }
    }
    let body = ''
    for (;;) {
      const line = await this.#until(() => this.#received.indexOf('\r\n'))
      const length = Number.parseInt(this.#take(line + 2).toString('latin1'), 16)
      await this.#until(() => (this.#received.length >= length + 2 ? 0 : -1))
      body += this.#take(length).toString('utf8')
      this.#take(2)
      if (length === 0) return { status, headers, body }
    }
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    await this.#until(() => (this.#closed ? 0 : -1))
  }

  destroy(): void {
    this.socket.destroy()
  }

  #take(size: number): Buffer {
    const taken = this.#received.subarray(0, size)
    this.#received = this.#received.subarray(size)
    return taken
  }

  #until(find: () => number): Promise<number> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = find()
        if (found < 0 && !this.#closed) return
        this.#waiting.delete(check)
        if (found >= 0) resolve(found)
        else reject(new Error(`the connection ended early, after: ${this.#received.toString('latin1').slice(0, 200)}`))
      }
      this.#waiting.add(check)
      check()
    })
  }

  #notify(): void {
    for (const check of this.#waiting) check()
  }
}

export interface RawRequest {
  readonly method?: string
  readonly target: string
  readonly headers?: readonly string[]
  readonly host?: string
}

/** The request line and headers, as sent on the wire. */
export function head({ method = 'GET', target, headers = [], host = 'host: 127.0.0.1' }: RawRequest): string {
  return [`${method} ${target} HTTP/1.1`, host, ...headers, '', ''].join('\r\n')
}

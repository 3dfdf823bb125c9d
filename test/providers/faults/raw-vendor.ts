/** A vendor that writes raw bytes to its connections, without an HTTP server. */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { canary, vendorHeaders } from './canary.ts'

/** Handles one request. */
export type Script = (line: Line, stream: boolean) => unknown

export interface RawVendor {
  readonly baseURL: string
  /** The heads of the requests so far. */
  readonly requests: string[]
  /** The connections so far, with the number of requests on each. */
  readonly connections: { readonly socket: Socket; requests: number }[]
  /** Resolves once no connection is open. */
  quiet(): Promise<void>
}

/** A connection with one request to respond to. */
export class Line {
  readonly socket: Socket
  /** The number of the request on its connection, from 1. */
  readonly nth: number
  /** The `released` of `rawVendor`. */
  readonly released: Promise<unknown>

  constructor(socket: Socket, nth: number, released: Promise<unknown>) {
    this.socket = socket
    this.nth = nth
    this.released = released
  }

  /** A status line and headers, with a canary in every header a vendor likes to send. */
  head(status: string, headers: Record<string, string | number> = {}): this {
    const lines = Object.entries({ ...vendorHeaders, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
    return this.write(`HTTP/1.1 ${status} ${canary.text}\r\n${lines.join('')}\r\n`)
  }

  write(bytes: string | Uint8Array): this {
    this.socket.write(bytes)
    return this
  }

  chunk(bytes: string): this {
    return this.write(`${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`)
  }

  /** A complete response with a content length. */
  answer(status: string, contentType: string, body: string | Uint8Array, headers: Record<string, string> = {}): this {
    const size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    return this.head(status, { 'content-type': contentType, 'content-length': size, ...headers }).write(body)
  }

  /** The head of an event stream with chunked encoding. */
  events(): this {
    return this.head('200', { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' })
  }

  /** The last chunk of a body. */
  last(): this {
    return this.write('0\r\n\r\n')
  }

  /** Repeats the bytes until the connection is closed. */
  endlessly(bytes: string): void {
    const { socket } = this
    const more = () => {
      while (!socket.destroyed && socket.write(bytes));
    }
    socket.on('drain', more)
    more()
  }

  /** The vendor closes the connection. */
  end(): void {
    this.socket.end()
  }

  /** The vendor crashes: unsent bytes are lost, and the client gets a reset. */
  reset(): void {
    this.socket.resetAndDestroy()
  }
}

export async function rawVendor(script: Script, released: Promise<unknown> = Promise.resolve()): Promise<RawVendor> {
  const requests: string[] = []
  const connections: { socket: Socket; requests: number }[] = []
  let wake: (() => void) | undefined
  const server = createServer((socket) => {
    const connection = { socket, requests: 0 }
    connections.push(connection)
    let bytes = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('close', () => wake?.())
    socket.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece])
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = bytes.toString('latin1', 0, end)
      const size = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (bytes.length < end + 4 + size) return
      const body = bytes.subarray(end + 4, end + 4 + size)
      bytes = bytes.subarray(end + 4 + size)
      requests.push(head)
      connection.requests++
      void script(new Line(socket, connection.requests, released), body.includes('"stream":true'))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const { socket } of connections) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    connections,
    async quiet() {
      while (connections.some(({ socket }) => !socket.destroyed)) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

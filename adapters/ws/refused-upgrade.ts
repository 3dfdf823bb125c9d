import type { Duplex } from 'node:stream'
import type { GatewayError } from '../../src/index.ts'
import { refuse } from '../../src/http/answers.ts'

// Not by `import`, which reads all properties of the module: its `WebSocket` loads Node's own undici, in 30 ms.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** Milliseconds that a client has to read a refusal. */
const lastBytesMs = 3_000

/** Answers an upgrade with an error, and closes the connection. */
export function refuseUpgrade(socket: Duplex, error: GatewayError): void {
  const { status, headers, body } = refuse(error)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
    ...lines,
    `content-length: ${Buffer.byteLength(body as string)}`,
    'connection: close',
  ]
  setTimeout(() => socket.destroy(), lastBytesMs).unref()
  socket.resume()
  socket.end(`${head.join('\r\n')}\r\n\r\n${body as string}`)
}

/** Clients that disconnect at every stage of a request, and vendors that fail. */
import { connect } from 'node:net'
import type { VendorReply } from 'modelhatch/testing'
import { authorization, firstFrame, frame, lastFrames, question } from '../gateway.ts'
import type { RunningHost } from '../hosts.ts'

const body = JSON.stringify({ ...question, stream: true })
const chat = (path: string, length: string) =>
  `POST ${path}/v1/chat/completions HTTP/1.1\r\nhost: h\r\nauthorization: ${authorization}\r\n` +
  `content-type: application/json\r\n${length}\r\n\r\n`
const whole = (path: string) => chat(path, `content-length: ${Buffer.byteLength(body)}`) + body

/** What the client has sent before it disconnects. */
const beginnings: Readonly<Record<string, (path: string) => string>> = {
  'with nothing sent': () => '',
  'in the request line': () => 'POST /v1/ch',
  'in the headers': (path) => chat(path, 'content-length: 10').slice(0, 60),
  'before the body': (path) => chat(path, 'content-length: 1000'),
  'in the body': (path) => `${chat(path, 'content-length: 1000')}{"model":"small"`,
  'in a chunk': (path) => `${chat(path, 'transfer-encoding: chunked')}ff\r\n{"model":"small"`,
  'after a broken chunk': (path) => `${chat(path, 'transfer-encoding: chunked')}zz\r\n{"model":"small"\r\n`,
  'after the body': whole,
  'after two requests at once': (path) => whole(path) + whole(path),
  'after a request and half of another': (path) => whole(path) + whole(path).slice(0, 100),
  'after bytes that are not HTTP': () => '\u0016\u0003\u0001 hello\r\n\r\n',
  'after two lengths': (path) => `${chat(path, 'content-length: 5\r\ncontent-length: 6')}{"a":1}`,
  'after a length and chunks': (path) => `${chat(path, 'content-length: 5\r\ntransfer-encoding: chunked')}0\r\n\r\n`,
  'after an upgrade': (path) =>
    `GET ${path}/v1/models HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
  'after a very long header': (path) => chat(path, `x: ${'y'.repeat(100_000)}`),
}

export interface Disconnect {
  readonly name: string
  readonly begin: (path: string) => string
  readonly when: 'at once' | 'at the first byte of the response' | 'with a reset'
}

export const disconnects: readonly Disconnect[] = Object.entries(beginnings).flatMap(([stage, begin]) =>
  (['at once', 'at the first byte of the response', 'with a reset'] as const).map((when) => ({
    name: `${stage}, ${when}`,
    begin,
    when,
  })),
)

/** Runs a client that disconnects. Resolves when its socket is closed. */
export function disconnect(host: RunningHost, { begin, when }: Disconnect): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(host.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    socket.write(begin(host.path), () => {
      if (when === 'with a reset') return socket.resetAndDestroy()
      if (when === 'at once') return socket.destroy()
      // Some of these requests get no response.
      const timer = setTimeout(() => socket.destroy(), 30)
      socket.once('data', () => {
        clearTimeout(timer)
        socket.destroy()
      })
    })
  })
}

const events = { 'content-type': 'text/event-stream' }
const json = { 'content-type': 'application/json' }

/** Vendors that fail. The client must get a valid response all the same: an error, or a stream that ends with one. */
export const faults: Readonly<Record<string, VendorReply>> = {
  'cuts the connection': (_, response) => void response.destroy(),
  'cuts the connection after its head': (_, response) => {
    response.writeHead(200, events).flushHeaders()
    setImmediate(() => response.destroy())
  },
  'cuts the connection in the middle of a frame': (_, response) => {
    response.writeHead(200, events)
    response.write(firstFrame + frame('x').slice(0, 30), () => response.destroy())
  },
  'ends in the middle': (_, response) => void response.writeHead(200, events).end(firstFrame),
  'sends less than its content-length': (_, response) => {
    response.writeHead(200, { ...json, 'content-length': '1000' })
    response.write('{"id":"x"', () => response.destroy())
  },
  'sends HTML': (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
  'sends nothing': (_, response) => void response.writeHead(200, json).end(),
  'sends no content': (_, response) => void response.writeHead(204).end(),
  'sends broken JSON': (_, response) => void response.writeHead(200, json).end('{"id":'),
  'sends a list': (_, response) => void response.writeHead(200, json).end('[]'),
  'sends a text': (_, response) => void response.writeHead(200, json).end('"text"'),
  'sends events of nothing': (_, response) => void response.writeHead(200, events).end('data: null\n\ndata: 7\n\n'),
  'sends a false content-encoding': (_, response) =>
    void response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('{}'),
  'sends a redirect': (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  'sends early hints first': (_, response) => {
    response.writeEarlyHints({ link: '</x>; rel=preload' })
    response.writeHead(500).end()
  },
  'sends an unknown status': (_, response) => {
    response.socket?.end('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n')
  },
  'sends bytes that are not HTTP': (_, response) => {
    response.socket?.end('hello\r\n\r\n')
  },
  'rejects with plain text': (_, response) => void response.writeHead(400).end('sk-vendor is not allowed'),
  'rejects with an error that is a number': (_, response) => void response.writeHead(500, json).end('{"error":7}'),
  'fails after its first content': (_, response) =>
    void response.writeHead(200, events).end(`${firstFrame}data: {"error":{"message":"sk-vendor"}}\n\n`),
  'continues after its end': (_, response) => {
    response.writeHead(200, events)
    response.end(firstFrame + lastFrames + frame('more') + lastFrames)
  },
}

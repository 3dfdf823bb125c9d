/** What clients and vendors do to a server, at every stage of a request. */
import { connect } from 'node:net'
import type { VendorReply } from 'modelhatch/testing'
import { authorization, firstFrame, frame, lastFrames, question } from '../gateway.ts'
import type { RunningHost } from '../hosts.ts'

const body = JSON.stringify({ ...question, stream: true })
const chat = (path: string, length: string) =>
  `POST ${path}/v1/chat/completions HTTP/1.1\r\nhost: h\r\nauthorization: ${authorization}\r\n` +
  `content-type: application/json\r\n${length}\r\n\r\n`
const whole = (path: string) => chat(path, `content-length: ${Buffer.byteLength(body)}`) + body

/** What is sent before the client leaves; each is cut off at once, and after the first bytes of an answer. */
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
  'after what is no HTTP': () => '\u0016\u0003\u0001 hello\r\n\r\n',
  'after two lengths': (path) => `${chat(path, 'content-length: 5\r\ncontent-length: 6')}{"a":1}`,
  'after a length and chunks': (path) => `${chat(path, 'content-length: 5\r\ntransfer-encoding: chunked')}0\r\n\r\n`,
  'after an upgrade': (path) =>
    `GET ${path}/v1/models HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
  'after a very long header': (path) => chat(path, `x: ${'y'.repeat(100_000)}`),
}

export interface Departure {
  readonly name: string
  readonly begin: (path: string) => string
  readonly when: 'at once' | 'at the first byte of the answer' | 'with a reset'
}

export const departures: readonly Departure[] = Object.entries(beginnings).flatMap(([stage, begin]) =>
  (['at once', 'at the first byte of the answer', 'with a reset'] as const).map((when) => ({
    name: `${stage}, ${when}`,
    begin,
    when,
  })),
)

/** A client that leaves. Resolves when it is gone. */
export function depart(host: RunningHost, { begin, when }: Departure): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(host.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    socket.write(begin(host.path), () => {
      if (when === 'with a reset') return socket.resetAndDestroy()
      if (when === 'at once') return socket.destroy()
      // To some of this there is no answer.
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

/** Vendors that fail. The client must get an answer all the same: 503, or a stream that says that it failed. */
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
  'says less than it announced': (_, response) => {
    response.writeHead(200, { ...json, 'content-length': '1000' })
    response.write('{"id":"x"', () => response.destroy())
  },
  'sends a page': (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
  'sends nothing': (_, response) => void response.writeHead(200, json).end(),
  'sends no content': (_, response) => void response.writeHead(204).end(),
  'sends broken JSON': (_, response) => void response.writeHead(200, json).end('{"id":'),
  'sends a list': (_, response) => void response.writeHead(200, json).end('[]'),
  'sends a text': (_, response) => void response.writeHead(200, json).end('"text"'),
  'sends events of nothing': (_, response) => void response.writeHead(200, events).end('data: null\n\ndata: 7\n\n'),
  'sends what claims to be compressed': (_, response) =>
    void response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('{}'),
  'sends a redirect': (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  'sends hints first': (_, response) => {
    response.writeEarlyHints({ link: '</x>; rel=preload' })
    response.writeHead(500).end()
  },
  'sends what is no status': (_, response) => {
    response.socket?.end('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n')
  },
  'speaks something else': (_, response) => {
    response.socket?.end('hello\r\n\r\n')
  },
  'refuses with a text': (_, response) => void response.writeHead(400).end('sk-vendor is not allowed'),
  'refuses with an object that is none': (_, response) => void response.writeHead(500, json).end('{"error":7}'),
  'fails after its first words': (_, response) =>
    void response.writeHead(200, events).end(`${firstFrame}data: {"error":{"message":"sk-vendor"}}\n\n`),
  'goes on after its end': (_, response) => {
    response.writeHead(200, events)
    response.end(firstFrame + lastFrames + frame('more') + lastFrames)
  },
}

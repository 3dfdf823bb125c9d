/** A client that sends targets and headers unchanged. It accepts compressed responses and decompresses them. */
import { request as request1, type IncomingMessage } from 'node:http'
import { connect, type ClientHttp2Stream } from 'node:http2'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { RunningHost } from './hosts.ts'

export interface Question {
  readonly method?: string
  /** Below the mount path, such as `/v1/models`. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A response that is read piece by piece. */
export interface OpenAnswer extends Omit<Answer, 'body'> {
  /** Reads until `text` has arrived and returns everything so far. Rejects if the response ends without it. */
  until(text: string): Promise<string>
  /** Reads to the end. Rejects if the connection is cut. */
  rest(): Promise<string>
  /** Stops reading, which causes backpressure. */
  pause(): void
  resume(): void
  /** Destroys the connection. */
  disconnect(): void
}

const compressed = { 'accept-encoding': 'gzip' }

export async function ask(host: RunningHost, question: Question): Promise<Answer> {
  const answer = await open(host, question)
  return { status: answer.status, headers: answer.headers, body: await answer.rest() }
}

/** `signal` disconnects a client that still waits for the headers of the response. */
export function open(host: RunningHost, question: Question, signal?: AbortSignal): Promise<OpenAnswer> {
  return host.http2 ? open2(host, question, signal) : open1(host, question, signal)
}

function open1(host: RunningHost, question: Question, signal?: AbortSignal): Promise<OpenAnswer> {
  const { method = 'GET', target, headers, body } = question
  return new Promise((resolve, reject) => {
    const path = host.path + target
    const all = { ...compressed, ...headers }
    const sent = request1({ host: '127.0.0.1', port: host.port, method, path, headers: all, agent: false })
    sent.on('error', reject)
    signal?.addEventListener('abort', () => sent.destroy())
    sent.on('response', (response: IncomingMessage) => {
      resolve(reading(response, response.statusCode ?? 0, response.headers, () => sent.destroy()))
    })
    sent.end(body)
  })
}

function open2(host: RunningHost, question: Question, signal?: AbortSignal): Promise<OpenAnswer> {
  const { method = 'GET', target, headers, body } = question
  return new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${host.port}`)
    session.on('error', reject)
    const path = host.path + target
    const stream: ClientHttp2Stream = session.request({ ':method': method, ':path': path, ...compressed, ...headers })
    stream.on('error', reject)
    signal?.addEventListener('abort', () => stream.close(8 /* CANCEL */))
    stream.on('response', (response) => {
      resolve(reading(stream, Number(response[':status']), response, () => stream.close(8 /* CANCEL */)))
    })
    stream.on('close', () => session.close())
    stream.end(body)
  })
}

function reading(source: Readable, status: number, raw: object, disconnect: () => void): OpenAnswer {
  const headers = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, String(value)]))
  const stream = headers['content-encoding'] === 'gzip' ? source.pipe(createGunzip()) : source
  let text = ''
  let ended = false
  let failure: Error | undefined
  const waiting = new Set<() => void>()
  const notify = () => {
    for (const check of waiting) check()
  }
  stream.setEncoding('utf8')
  stream.on('data', (piece: string) => {
    text += piece
    notify()
  })
  stream.on('end', () => {
    ended = true
    notify()
  })
  stream.on('error', (error) => {
    failure ??= error
    notify()
  })
  stream.on('close', () => {
    failure ??= ended ? undefined : new Error('the response was cut off')
    notify()
  })
  const wait = (enough: () => boolean) =>
    new Promise<string>((resolve, reject) => {
      const check = () => {
        if (!enough() && !ended && failure === undefined) return
        waiting.delete(check)
        if (enough()) resolve(text)
        else reject(failure ?? new Error(`the response ended early: ${text}`))
      }
      waiting.add(check)
      check()
    })
  return {
    status,
    headers,
    until: (part) => wait(() => text.includes(part)),
    rest: () => wait(() => ended),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    disconnect,
  }
}

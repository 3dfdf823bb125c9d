/** Requests with an `Idempotency-Key`, and vendors that wait for the test. */
import { createHash } from 'node:crypto'
import OpenAI from 'openai'
import type { VendorReply } from '../../../src/testing/vendor.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  readonly code: string | undefined
  readonly replayed: string | null
  readonly shouldRetry: string | null
  readonly type: string | null
  readonly headers: Headers
}

export interface RequestOptions {
  readonly path?: string
  readonly body?: object | FormData
  /** Undefined sends no header. Default `k`. */
  readonly key?: string | undefined
  readonly bearer?: string
  readonly signal?: AbortSignal
  /** The id of the last event that the client got. */
  readonly after?: number | string
}

export const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

/** Sends a request; by default a chat with the key `k`. */
export async function ask(url: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await begin(url, options)
  const text = await response.text()
  const { headers, status } = response
  return {
    status,
    text,
    code: status < 400 ? undefined : (JSON.parse(text) as { error: { code: string } }).error.code,
    replayed: headers.get('idempotent-replayed'),
    shouldRetry: headers.get('x-should-retry'),
    type: headers.get('content-type'),
    headers,
  }
}

/** Like `ask`, but resolves with the response before its body is read. */
export function begin(url: string, options: RequestOptions = {}): Promise<Response> {
  const { path = '/chat/completions', body = question, bearer = 'sk-test', signal, after } = options
  const key = 'key' in options ? options.key : 'k'
  return fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(after !== undefined && { 'last-event-id': String(after) }),
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
    ...(signal && { signal }),
  })
}

/** The official client with idempotency keys switched on: the given one, or one per call and its retries. */
export class KeyedClient extends OpenAI {
  protected override idempotencyHeader = 'Idempotency-Key'
}

export interface Gate {
  readonly reply: VendorReply
  /** Resolves when the vendor has received the first request. */
  readonly received: Promise<void>
  /** Lets the vendor respond to this request and all later ones. */
  readonly open: () => void
}

/** A vendor that responds once the test calls `open`. */
export function gated(reply: VendorReply): Gate {
  const received = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    received: received.promise,
    open: () => opened.resolve(),
    async reply(request, response) {
      received.resolve()
      await opened.promise
      await reply(request, response)
    },
  }
}

/** A vendor that uses one reply after the other, then always the last. */
export function inTurn(...replies: VendorReply[]): VendorReply {
  let turn = 0
  return (request, response) => replies[Math.min(turn++, replies.length - 1)]?.(request, response)
}

export function failing(status: number): VendorReply {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'no', code: 'no' } }))
  }
}

export function digest(body: object): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex')
}

/** Requests with an `Idempotency-Key`, and vendors that wait for the test. */
import { createHash } from 'node:crypto'
import OpenAI from 'openai'
import type { VendorReply } from '../../src/testing/vendor.ts'

export interface Told {
  readonly status: number
  readonly text: string
  readonly code: string | undefined
  readonly replayed: string | null
  readonly shouldRetry: string | null
  readonly type: string | null
  readonly headers: Headers
}

export interface Asking {
  readonly path?: string
  readonly body?: object | FormData
  /** Undefined: without the header. */
  readonly key?: string | undefined
  readonly bearer?: string
  readonly signal?: AbortSignal
}

export const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

/** Without further words: the same chat under the key `k`. */
export async function ask(url: string, asking: Asking = {}): Promise<Told> {
  const response = await begin(url, asking)
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

/** As `ask`, up to the head of the answer. */
export function begin(url: string, asking: Asking = {}): Promise<Response> {
  const { path = '/chat/completions', body = question, bearer = 'sk-test', signal } = asking
  const key = 'key' in asking ? asking.key : 'k'
  return fetch(`${url}/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
    ...(signal && { signal }),
  })
}

/** The official client as its users make it send keys: those they give, or one for each call and all its retries. */
export class KeyedClient extends OpenAI {
  protected override idempotencyHeader = 'Idempotency-Key'
}

export interface Gate {
  readonly reply: VendorReply
  /** Resolves when the vendor has got the first request. */
  readonly asked: Promise<void>
  /** Lets this request, and all that come later, have their answers. */
  readonly open: () => void
}

/** A vendor whose answers wait until the test lets them go. */
export function gated(reply: VendorReply): Gate {
  const asked = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    asked: asked.promise,
    open: () => opened.resolve(),
    async reply(request, response) {
      asked.resolve()
      await opened.promise
      await reply(request, response)
    },
  }
}

/** A vendor that answers differently each time; the last answer stays. */
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

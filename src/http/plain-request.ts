import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { ignore } from './ignore.ts'

/** A request to a service that is no vendor of models, without a pool. */
export interface PlainRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  /** Finds the addresses of the host. Default: that of Node. */
  readonly lookup?: LookupFunction
}

/** The longest response that is read, in characters. */
const longest = 20_000_000

/** Sends it over `http:` or `https:`. Rejects if there is no whole response in time. Redirects are not followed. */
export async function requestPlainly(
  url: URL,
  request: PlainRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await sendPlainly(url, request)
  let text = ''
  for await (const part of response.setEncoding('utf8')) {
    text += part
    if (text.length > longest) throw new Error('the response is too long')
  }
  return { status: response.statusCode ?? 0, text }
}

/** The same, as far as the head of the response. What does not arrive in time destroys it. */
export function sendPlainly(
  url: URL,
  { method = 'GET', headers, body, timeoutMs, lookup }: PlainRequest,
): Promise<IncomingMessage> {
  // Not by `import`, which reads all properties of the module: its `WebSocket` loads Node's own undici, in 30 ms.
  const { request: send } = process.getBuiltinModule(url.protocol === 'http:' ? 'node:http' : 'node:https')
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const signal = AbortSignal.timeout(timeoutMs)
    const sent = { ...headers, ...length }
    const request = send(url, { method, agent: false, headers: sent, signal, ...(lookup && { lookup }) })
    request.on('response', (response) => resolve(response.on('error', ignore))).on('error', reject)
    request.end(body)
  })
}

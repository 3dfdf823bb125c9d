/** Webhooks, signed according to Standard Webhooks, to addresses that customers may choose. */
import { createHmac } from 'node:crypto'
import { request as overHttps } from 'node:https'
import { publicLookup, publicUrl } from './public-address.ts'
import { ignore } from './ignore.ts'

// Not by `import`, which reads all properties of the module: its `WebSocket` loads Node's own undici, in 30 ms.
const { request: overHttp } = process.getBuiltinModule('node:http')

/** Where a webhook is sent. */
export interface WebhookEndpoint {
  /** Must resolve to a public address, unless `allowPrivateNetwork` is true. Redirects are not followed. */
  readonly url: string
  /** Secret in the format of Standard Webhooks: `whsec_` and at least 24 bytes in base64. */
  readonly secret: string
}

/** One delivery. */
export interface SignedWebhook {
  readonly endpoint: WebhookEndpoint
  /** The same for each attempt, so that the receiver recognises a repetition. */
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** JSON. */
  readonly body: string
  /** Whether the URL may be in the private network. */
  readonly allowPrivateNetwork: boolean
  readonly timeoutMs: number
}

/** Milliseconds between the attempts at delivery. */
const pausesMs: readonly number[] = [5_000, 60_000, 5 * 60_000, 30 * 60_000, 2 * 60 * 60_000]

/** Timeout in milliseconds of one attempt at delivery. */
export const webhookTimeoutMs = 10_000

/** Milliseconds until the next attempt after `failed` failed ones; undefined if delivery is given up. */
export function nextTryMs(failed: number): number | undefined {
  return pausesMs[failed - 1]
}

/** Resolves once the endpoint has responded with 2xx; otherwise rejects. */
export async function sendSigned(webhook: SignedWebhook): Promise<void> {
  const { endpoint, id, timestamp, body, allowPrivateNetwork } = webhook
  const url = allowPrivateNetwork ? new URL(endpoint.url) : publicUrl(endpoint.url)
  if (url === undefined) throw new Error('the webhook URL must resolve to a public address')
  const status = await post(url, webhook, {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${sign(endpoint.secret, `${id}.${timestamp}.${body}`)}`,
  })
  if (status < 200 || status >= 300) throw new Error(`the webhook endpoint responded with ${status}`)
}

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  // An empty or short secret could be guessed, and the signature forged.
  if (key.length < 24) throw new TypeError('a webhook secret must have at least 24 bytes in base64')
  return createHmac('sha256', key).update(content).digest('base64')
}

/** Resolves to the response's status. Ignores the body, so that a slow body takes no time. */
function post(
  url: URL,
  { body, allowPrivateNetwork, timeoutMs }: SignedWebhook,
  headers: Record<string, string>,
): Promise<number> {
  const send = url.protocol === 'https:' ? overHttps : overHttp
  const lookup = allowPrivateNetwork ? {} : { lookup: publicLookup() }
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) }
    const request = send(url, {
      method: 'POST',
      agent: false,
      headers: { ...headers, ...length },
      signal: AbortSignal.timeout(timeoutMs),
      ...lookup,
    })
    request.on('response', (response) => {
      resolve(response.statusCode ?? 0)
      response.on('error', ignore)
      response.destroy()
    })
    request.on('error', reject)
    request.end(body)
  })
}

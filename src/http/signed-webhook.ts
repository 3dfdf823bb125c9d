/** Webhooks, signed according to Standard Webhooks, to addresses that customers may choose. */
import { createHmac } from 'node:crypto'
import { sendPlainly } from './plain-request.ts'
import { publicLookup, publicUrl } from './public-address.ts'

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
  const { endpoint, id, timestamp, body, allowPrivateNetwork, timeoutMs } = webhook
  const url = allowPrivateNetwork ? new URL(endpoint.url) : publicUrl(endpoint.url)
  if (url === undefined) throw new Error('the webhook URL must resolve to a public address')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${sign(endpoint.secret, `${id}.${timestamp}.${body}`)}`,
  }
  const lookup = allowPrivateNetwork ? {} : { lookup: publicLookup() }
  const response = await sendPlainly(url, { method: 'POST', headers, body, timeoutMs, ...lookup })
  // A slow body takes no time.
  response.destroy()
  const { statusCode: status = 0 } = response
  if (status < 200 || status >= 300) throw new Error(`the webhook endpoint responded with ${status}`)
}

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  // An empty or short secret could be guessed, and the signature forged.
  if (key.length < 24) throw new TypeError('a webhook secret must have at least 24 bytes in base64')
  return createHmac('sha256', key).update(content).digest('base64')
}

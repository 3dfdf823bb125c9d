import { createHmac } from 'node:crypto'
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { within } from '../http/deadline.ts'
import { publicLookup, publicUrl } from '../http/public-address.ts'
import { openaiShape } from './shape.ts'
import type { StoredTask } from './task.ts'

/** Where a webhook is sent. */
export interface WebhookEndpoint {
  /** Must resolve to a public address, unless `WebhookOptions.allowPrivateNetwork` is true. Redirects are not followed. */
  readonly url: string
  /** Secret in the format of Standard Webhooks: `whsec_` and at least 24 bytes in base64. */
  readonly secret: string
}

/** Webhooks for finished videos. */
export interface WebhookOptions {
  /** Returns the endpoint for a task, for example by its account, or undefined to send none. */
  readonly endpoint: (task: StoredTask) => Promise<WebhookEndpoint | undefined> | WebhookEndpoint | undefined
  /** Allows URLs in the private network. Only safe if customers cannot choose the URLs. Default false. */
  readonly allowPrivateNetwork?: boolean
}

/** Milliseconds between the attempts at delivery. */
const pausesMs: readonly number[] = [5_000, 60_000, 5 * 60_000, 30 * 60_000, 2 * 60 * 60_000]

/** Timeout in milliseconds, once for `endpoint()` and once for the delivery. */
const answerMs = 10_000

/** Milliseconds until the next attempt after `failed` failed ones; undefined if delivery is given up. */
export function nextTryMs(failed: number): number | undefined {
  return pausesMs[failed - 1]
}

/**
 * Sends the webhook of a finished video, signed according to Standard Webhooks, so that `webhooks.unwrap` of OpenAI's
 * clients verifies it. Resolves once the endpoint has responded with 2xx, or if there is no endpoint; otherwise rejects.
 */
export async function deliver(
  options: WebhookOptions,
  task: StoredTask,
  now: number,
  withinMs: number = answerMs,
): Promise<void> {
  const endpoint = await within(withinMs, Promise.resolve(options.endpoint(task)), 'webhooks.endpoint()')
  if (endpoint === undefined) return
  const url = options.allowPrivateNetwork === true ? new URL(endpoint.url) : publicUrl(endpoint.url)
  if (url === undefined) throw new Error('the webhook URL must resolve to a public address')
  const timestamp = Math.floor(now / 1000)
  const type = task.data.state === 'completed' ? 'video.completed' : 'video.failed'
  const body = JSON.stringify({
    id: `evt_${task.id}`,
    object: 'event',
    created_at: timestamp,
    type,
    data: openaiShape(task),
  })
  const id = `evt_${task.id}_${task.data.attempt}`
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${sign(endpoint.secret, `${id}.${timestamp}.${body}`)}`,
  }
  const status = await post(url, body, headers, options.allowPrivateNetwork === true, withinMs)
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
  body: string,
  headers: Record<string, string>,
  allowPrivateNetwork: boolean,
  withinMs: number,
): Promise<number> {
  const send = url.protocol === 'https:' ? overHttps : overHttp
  const lookup = allowPrivateNetwork ? {} : { lookup: publicLookup() }
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) }
    const request = send(url, {
      method: 'POST',
      agent: false,
      headers: { ...headers, ...length },
      signal: AbortSignal.timeout(withinMs),
      ...lookup,
    })
    request.on('response', (response) => {
      resolve(response.statusCode ?? 0)
      response.on('error', () => undefined)
      response.destroy()
    })
    request.on('error', reject)
    request.end(body)
  })
}

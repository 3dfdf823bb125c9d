/**
 * Telling a customer's server that a video has ended: signed as Standard Webhooks are, so that `webhooks.unwrap` of
 * OpenAI's clients and others verify it. Delivery is tried until it is answered with 2xx, or given up; what is still to be
 * told is kept with the task, so that it survives a restart.
 */
import { createHmac } from 'node:crypto'
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { within } from '../http/deadline.ts'
import { publicLookup, publicUrl } from '../http/public-address.ts'
import { openaiShape } from './shape.ts'
import type { StoredTask } from './task.ts'

export interface WebhookEndpoint {
  /** Must lead to a public address, unless `WebhookOptions.allowPrivateNetwork` says otherwise. Redirects are not followed. */
  readonly url: string
  /** `whsec_` and at least 24 bytes of base64, as Standard Webhooks write secrets. */
  readonly secret: string
}

export interface WebhookOptions {
  /** Where the end of a task is told, by its account and request; undefined: nowhere. */
  readonly endpoint: (task: StoredTask) => Promise<WebhookEndpoint | undefined> | WebhookEndpoint | undefined
  /** Also addresses of this network: only where the URLs are the host's own. Default false. */
  readonly allowPrivateNetwork?: boolean
}

/** Milliseconds after which delivery is tried again. */
const pausesMs: readonly number[] = [5_000, 60_000, 5 * 60_000, 30 * 60_000, 2 * 60 * 60_000]

/** Milliseconds for the endpoint to be named, and for its answer. */
const answerMs = 10_000

/** Milliseconds until the next try, after so many that failed; undefined when it is given up. */
export function nextTryMs(failed: number): number | undefined {
  return pausesMs[failed - 1]
}

/** Resolves when the endpoint has taken it, or there is none; rejects when it has not, within `withinMs` in any case. */
export async function deliver(
  options: WebhookOptions,
  task: StoredTask,
  now: number,
  withinMs: number = answerMs,
): Promise<void> {
  const endpoint = await within(withinMs, Promise.resolve(options.endpoint(task)), 'webhooks.endpoint()')
  if (endpoint === undefined) return
  const url = options.allowPrivateNetwork === true ? new URL(endpoint.url) : publicUrl(endpoint.url)
  if (url === undefined) throw new Error('the URL of the webhook does not lead to a public address')
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
  if (status < 200 || status >= 300) throw new Error(`the webhook was answered with ${status}`)
}

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  // An empty or short key would let anybody sign.
  if (key.length < 24) throw new TypeError('the secret of a webhook must be at least 24 bytes in base64')
  return createHmac('sha256', key).update(content).digest('base64')
}

/** The status of the answer; its body is of no interest. A server that answers byte by byte gets no more time for it. */
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

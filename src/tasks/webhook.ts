import { within } from '../http/deadline.ts'
import { sendSigned, webhookTimeoutMs, type WebhookEndpoint } from '../http/signed-webhook.ts'
import { openaiVideo } from './openai-video.ts'
import type { StoredTask } from './task.ts'

/** Webhooks for finished videos. */
export interface WebhookOptions {
  /** Returns the endpoint for a task, for example by its account, or undefined to send none. */
  readonly endpoint: (task: StoredTask) => Promise<WebhookEndpoint | undefined> | WebhookEndpoint | undefined
  /** Allows URLs in the private network. Only safe if customers cannot choose the URLs. Default false. */
  readonly allowPrivateNetwork?: boolean
}

/**
 * Sends the webhook of a finished video, signed according to Standard Webhooks, so that `webhooks.unwrap` of OpenAI's
 * clients verifies it. Resolves once the endpoint has responded with 2xx, or if there is no endpoint; otherwise rejects.
 */
export async function deliver(
  options: WebhookOptions,
  task: StoredTask,
  now: number,
  timeoutMs: number = webhookTimeoutMs,
): Promise<void> {
  const endpoint = await within(timeoutMs, Promise.resolve(options.endpoint(task)), 'webhooks.endpoint()')
  if (endpoint === undefined) return
  const timestamp = Math.floor(now / 1000)
  const body = JSON.stringify({
    id: `evt_${task.id}`,
    object: 'event',
    created_at: timestamp,
    type: task.data.state === 'completed' ? 'video.completed' : 'video.failed',
    data: openaiVideo(task),
  })
  const id = `evt_${task.id}_${task.data.attempt}`
  const allowPrivateNetwork = options.allowPrivateNetwork === true
  await sendSigned({ endpoint, id, timestamp, body, allowPrivateNetwork, timeoutMs })
}

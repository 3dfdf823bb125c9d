import { createHmac, randomBytes } from 'node:crypto'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runExample, type RunningExample } from './example.ts'

const key = randomBytes(32)
let example: RunningExample
let hook: string

beforeAll(async () => {
  example = await runExample('video-webhook', { WEBHOOK_SECRET: `whsec_${key.toString('base64')}` })
  hook = `${new URL(example.baseURL).origin}/hook`
})
afterAll(async () => {
  expect(await example.stop()).toBe(0)
})

const received = async () => (await (await fetch(hook)).json()) as { type: string; video: string }[]

interface Forged {
  readonly id?: string
  readonly signedWith?: Buffer
  readonly ageSeconds?: number
  /** What is sent in place of what was signed. */
  readonly sent?: string
}

/** Posts an event as Standard Webhooks sign it. */
async function post({ id = 'evt_forged', signedWith = key, ageSeconds = 0, sent }: Forged): Promise<number> {
  const body = JSON.stringify({ id, type: 'video.completed', data: { id: `video_${id}` } })
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds)
  const signature = createHmac('sha256', signedWith).update(`${id}.${timestamp}.${body}`).digest('base64')
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
  return (await fetch(hook, { method: 'POST', headers, body: sent ?? body })).status
}

test('the customer is notified of a finished video, and can download it', async () => {
  const client = new OpenAI({ baseURL: example.baseURL, apiKey: 'sk-demo', maxRetries: 0 })
  const { id } = await client.videos.create({ model: 'film', prompt: 'A hatch opens', seconds: '5' as '4' })
  // Nothing polls: the gateway itself moves the task on.
  await expect.poll(received).toContainEqual({ type: 'video.completed', video: id })
  const video = await client.videos.downloadContent(id)
  expect(Buffer.from(await video.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp')
})

test('only events with the gateway’s signature are accepted', async () => {
  expect(await post({ id: 'evt_stranger', signedWith: randomBytes(32) })).toBe(400)
  expect(await post({ id: 'evt_old', ageSeconds: 600 })).toBe(400)
  expect(await post({ id: 'evt_altered', sent: '{"type":"video.completed","data":{"id":"video_other"}}' })).toBe(400)
  expect(JSON.stringify(await received())).not.toMatch(/stranger|old|other/)
})

test('an event that is delivered twice counts once', async () => {
  expect([await post({ id: 'evt_twice' }), await post({ id: 'evt_twice' })]).toEqual([204, 204])
  expect((await received()).filter(({ video }) => video === 'video_evt_twice')).toHaveLength(1)
})

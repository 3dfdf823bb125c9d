/**
 * A webhook when a video is done, and the customer's server that receives it. Both are in one process here.
 *
 *     npm run example examples/video-webhook.ts
 *
 *     curl http://127.0.0.1:3000/v1/videos/generations \
 *       -H 'Authorization: Bearer sk-demo' -H 'Content-Type: application/json' \
 *       -d '{"model": "film", "prompt": "A hatch opens", "duration": 5}'
 */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createGateway, landscapeVideo, type WebhookEndpoint } from 'modelhatch'
import { mount } from 'modelhatch/express'
import { demo } from 'modelhatch/providers'
import OpenAI from 'openai'

/** In your database: the URL that each customer has registered, and a secret that you have made for it. */
const endpoints = new Map<string, WebhookEndpoint>()
const secret = process.env['WEBHOOK_SECRET'] ?? `whsec_${randomBytes(32).toString('base64')}`

const gateway = createGateway({
  keys: { 'sk-demo': { account: 'acme' } },
  models: { film: { provider: demo({ videoSeconds: 1 }), video: landscapeVideo } },
  tasks: {
    sweepMs: 250,
    webhooks: {
      endpoint: ({ account }) => endpoints.get(account),
      // Only because the receiver below is on this machine. Never set it for URLs that customers choose.
      allowPrivateNetwork: true,
    },
  },
})

/** The customer's server. Any library for Standard Webhooks verifies the signature; OpenAI's client has one built in. */
const { webhooks } = new OpenAI({ apiKey: 'not used', webhookSecret: secret })
const received = new Map<string, { type: string; video: string }>()

const customer = express.Router()
// The signature covers the exact bytes, so the body must not be parsed before.
customer.post('/', express.text({ type: 'application/json' }), async (request, response) => {
  const headers = request.headers as Record<string, string>
  try {
    const event = (await webhooks.unwrap(String(request.body), headers)) as { type: string; data: { id: string } }
    // Delivery is at-least-once: the same webhook-id is the same event.
    received.set(headers['webhook-id'] ?? '', { type: event.type, video: event.data.id })
    response.sendStatus(204)
  } catch {
    // Not from the gateway, altered, or older than five minutes.
    response.sendStatus(400)
  }
})
customer.get('/', (_, response) => response.json([...received.values()]))

const app = express().use(mount(gateway)).use('/hook', customer)
const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  endpoints.set('acme', { url: `${baseURL}/hook`, secret })
  console.log(`Serving ${baseURL}/v1 with the key sk-demo. Received webhooks: ${baseURL}/hook`)
})
process.once('SIGTERM', () => void gateway.close({ graceMs: 5_000 }).then(() => server.close()))

/** An answer that is larger than what is read is billed by the vendor: it is charged once, and not asked for again. */
import { describe, expect, test } from 'vitest'
import { memoryLedger } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { hostedWith, vendorFor } from '../hosted.ts'

const hello = { messages: [{ role: 'user', content: 'Hi' }] }

const endless: VendorReply = (_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(`{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"${'x'.repeat(200_000)}"}}]}`)
}
const manyTexts: VendorReply = (_, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ data: Array(300_000).fill('a') }))
}
const frames: VendorReply = (_, response) => {
  response.setHeader('content-type', 'text/event-stream')
  response.end(`data: {"choices":[{"index":0,"delta":{"content":"${'x'.repeat(17_000_000)}"}}]}\n\n`)
}

async function asked(reply: VendorReply, path: string, body: object) {
  const vendors = [await vendorFor(reply), await vendorFor(reply)]
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const { url, gateway } = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: {
      m: { route: ['v0', 'v1'] },
      ...Object.fromEntries(
        vendors.map(({ baseURL }, index) => {
          const provider = openai({ name: `v${index}`, baseURL, answerBytes: 100_000 })
          return [`v${index}`, { provider, price: { input: '1', output: '10', image: '0.1' } }]
        }),
      ),
    },
    billing: { currency: 'EUR' },
    storage: { ledger },
  })
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify({ model: 'm', ...body }) })
  await response.arrayBuffer()
  await expect.poll(async () => (await ledger.account('acme'))?.held).toBe(0n)
  const balance = (await ledger.account('acme'))?.balance ?? 0n
  await gateway.close()
  return {
    status: response.status,
    again: response.headers.get('x-should-retry'),
    calls: vendors.reduce((sum, { requests }) => sum + requests.length, 0),
    charged: 1_000_000n - balance,
  }
}

describe('an answer that is too large to be read', () => {
  test.each<[string, VendorReply, string, object, bigint, bigint]>([
    ['a chat of stated length', endless, '/v1/chat/completions', { ...hello, max_tokens: 100 }, 1_000n, 1_100n],
    ['a chat of unstated length', endless, '/v1/chat/completions', hello, 40_000n, 42_000n],
    ['embeddings', manyTexts, '/v1/embeddings', { input: ['a', 'b'] }, 1n, 100n],
    ['images', endless, '/v1/images/generations', { prompt: 'a cat', n: 2 }, 200_000n, 400_000n],
  ])('is charged, at most what was held: %s', async (_, reply, path, body, least, most) => {
    const { status, again, calls, charged } = await asked(reply, path, body)
    expect([status, again, calls]).toEqual([503, 'false', 1])
    expect(charged).toBeGreaterThanOrEqual(least)
    expect(charged).toBeLessThanOrEqual(most)
  })

  test('is charged if it is one event of a stream', async () => {
    const { calls, charged } = await asked(frames, '/v1/chat/completions', { ...hello, max_tokens: 100, stream: true })
    expect(calls).toBe(1)
    expect(charged).toBeGreaterThanOrEqual(1_000n)
    expect(charged).toBeLessThanOrEqual(1_100n)
  })
})

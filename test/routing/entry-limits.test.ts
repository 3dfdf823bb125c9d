/** Entries of a route with time limits of their own. */
import { once } from 'node:events'
import { memoryUsageStore } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import type { VendorReply } from 'modelhatch/testing'
import { expect, test } from 'vitest'
import { askChat, hostedWith, vendorFor } from '../hosted.ts'

const chunk = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', created: 1, model: 'v', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`
const whole = JSON.stringify({ choices: [{ message: { content: 'second' }, finish_reason: 'stop' }] })

const answering: VendorReply = ({ json }, response) => {
  const streams = (json as { stream?: boolean }).stream === true
  response.setHeader('content-type', streams ? 'text/event-stream' : 'application/json')
  response.end(streams ? `${chunk('second')}${chunk('', 'stop')}data: [DONE]\n\n` : whole)
}

/** A vendor that never ends its answers, which begin with `text`. */
async function silent(text = '') {
  const left: Promise<unknown>[] = []
  const vendor = await vendorFor((_, response) => {
    left.push(once(response, 'close'))
    if (text === '') return
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text)
  })
  return { baseURL: vendor.baseURL, left: () => Promise.all(left), requests: vendor.requests }
}

async function hosted(first: string, limits: object) {
  const second = await vendorFor(answering)
  const route = [
    { provider: openai({ baseURL: first, name: 'v1' }), ...limits },
    { provider: openai({ baseURL: second.baseURL, name: 'v2' }) },
  ]
  return hostedWith({ models: { m: { route } }, storage: { usage: memoryUsageStore() } })
}

test('a stream that has not begun in time is taken from the next entry, and the vendor is left', async () => {
  const first = await silent()
  const { url, receipt } = await hosted(first.baseURL, { firstContentMs: 40 })
  expect(await (await askChat(url, { stream: true })).text()).toContain('second')
  await first.left()
  expect(await receipt()).toMatchObject({
    outcome: 'completed',
    provider: 'v2',
    attemptLog: [{ provider: 'v1', outcome: 'failed' }, { outcome: 'succeeded' }],
  })
})

test('an answer that has not ended in time is taken from the next entry', async () => {
  const first = await silent()
  const { url, receipt } = await hosted(first.baseURL, { timeoutMs: 40 })
  expect((await askChat(url)).status).toBe(200)
  await first.left()
  expect(await receipt()).toMatchObject({ provider: 'v2', attempts: 2 })
})

test('a stream that has begun and does not end in time fails', async () => {
  const first = await silent(chunk('first'))
  const { url, receipt } = await hosted(first.baseURL, { timeoutMs: 200 })
  expect(await (await askChat(url, { stream: true })).text()).toMatch(/first.*"error":\{.*\n\n$/s)
  await first.left()
  expect(await receipt()).toMatchObject({ outcome: 'failed', provider: 'v1', code: 'service_unavailable' })
})

test('an attempt that is given up with the request ends at the vendor', async () => {
  const first = await silent(chunk('first'))
  const { url, receipt } = await hosted(first.baseURL, { timeoutMs: 600_000, firstContentMs: 600_000 })
  const leaving = new AbortController()
  const response = await askChat(url, { stream: true }, { signal: leaving.signal })
  await response.body?.getReader().read()
  leaving.abort()
  await first.left()
  expect(await receipt()).toMatchObject({ outcome: 'cancelled' })
})

test('by its usual time, once that is known', async () => {
  let isSilent = false
  const left: Promise<unknown>[] = []
  const vendor = await vendorFor((request, response) => {
    if (isSilent) left.push(once(response, 'close'))
    else void answering(request, response)
  })
  const { url, receipt } = await hosted(vendor.baseURL, { firstContentMs: 'usual' })
  for (let call = 0; call < 50; call++) {
    await (await askChat(url, { stream: true })).text()
    expect((await receipt()).attempts).toBe(1)
  }
  isSilent = true
  expect(await (await askChat(url, { stream: true })).text()).toContain('second')
  await Promise.all(left)
  expect(await receipt()).toMatchObject({ provider: 'v2', attempts: 2 })
})

test.each([{ stream: true }, { stream: false }])(
  'a deployment that hangs until the time of the request is over has failed: %j',
  async (body) => {
    const first = await silent()
    const second = await vendorFor(answering)
    const route = [first, second].map(({ baseURL }, index) => ({
      provider: openai({ baseURL, name: `v${index + 1}` }),
      cost: { input: '1', output: '1' },
    }))
    const { url, receipt, gateway } = await hostedWith({
      models: { m: { route } },
      storage: { usage: memoryUsageStore() },
      timeouts: { firstContentMs: 300 },
      breaker: { failures: 1, coolDownMs: 600_000 },
    })
    expect((await askChat(url, body)).status).toBe(503)
    await first.left()
    const late = await receipt()
    expect(late).toMatchObject({ outcome: 'failed', code: 'service_unavailable', provider: 'v1' })
    const read = await gateway.admin.usage.find(late.id, { costs: true })
    expect(Number(read?.vendorCost)).toBeGreaterThan(0)
    expect((await askChat(url, body)).status).toBe(200)
    expect(await receipt()).toMatchObject({
      provider: 'v2',
      attemptLog: [{ provider: 'v1', outcome: 'skipped' }, { outcome: 'succeeded' }],
    })
  },
)

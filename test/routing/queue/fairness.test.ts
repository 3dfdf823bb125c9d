/** The option `fairness` in whole gateways. */
import { expect, test } from 'vitest'
import type { AttemptEvent, Receipt } from '../../../src/index.ts'
import { openai } from '../../../src/providers/index.ts'
import { jain, measure } from '../../bench/fairness/measure.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { thorough } from '../../long.ts'
import { usage, whole } from '../../admission/scene.ts'
import type { VendorReply } from '../../../src/testing/vendor.ts'

/** Answers, and says that nothing is left of its limit. */
const exhausted: VendorReply = (request, response) => {
  response.setHeader('x-ratelimit-limit-requests', '600')
  response.setHeader('x-ratelimit-remaining-requests', '0')
  response.setHeader('x-ratelimit-reset-requests', '60s')
  return whole(request, response)
}

async function ask(url: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
  })
}

test('a vendor at its limit is left alone: the next deployment serves, and the breaker stays closed', async () => {
  const [first, second] = [await vendorFor(exhausted), await vendorFor(whole)]
  const route = [first, second].map(({ baseURL }, at) => ({
    provider: openai({ name: `vendor ${at}`, baseURL }),
    providerModel: 'm',
  }))
  const attempts: AttemptEvent[] = []
  const { url, receipt } = await hostedWith({
    models: { m: { route } },
    fairness: { maxWaitMs: 50 },
    hooks: { attempt: (each) => void attempts.push(each) },
  })
  const statuses: number[] = []
  for (let call = 0; call < 8; call++) statuses.push((await ask(url)).status)
  expect(statuses).toEqual(Array.from({ length: 8 }, () => 200))
  expect(first.requests.length).toBeLessThan(5)
  expect(first.requests.length + second.requests.length).toBe(8)
  const receipts: Receipt[] = []
  for (let call = 0; call < 8; call++) receipts.push(await receipt())
  expect(receipts[0]).toMatchObject({ provider: 'vendor 0', usage })
  expect(receipts.at(-1)).toMatchObject({ provider: 'vendor 1', attempts: 1 })
  expect(attempts.slice(-2)).toMatchObject([
    { provider: 'vendor 0', outcome: 'skipped', error: { code: 'service_unavailable' } },
    { provider: 'vendor 1', outcome: 'succeeded' },
  ])
})

test('without another deployment the client gets a 503 that says when to come back, and the vendor no call', async () => {
  const vendor = await vendorFor(exhausted)
  const models = { m: { provider: openai({ baseURL: vendor.baseURL }), providerModel: 'm' } }
  const { url } = await hostedWith({ models, fairness: { maxWaitMs: 50 } })
  let refused: Response | undefined
  for (let call = 0; call < 8 && refused === undefined; call++) {
    const answer = await ask(url)
    if (answer.status !== 200) refused = answer
  }
  expect(refused?.status).toBe(503)
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(await refused?.json()).toMatchObject({ error: { message: expect.stringContaining('at its limit') as string } })
  expect(vendor.requests.length).toBeLessThan(8)
})

test('under a flood at twice the limit all accounts get the same, and the vendor refuses next to nothing', async () => {
  const limit = 10
  const rates = [1.05, ...Array.from({ length: 9 }, () => 0.105)].map((part) => part * limit)
  const load = { processes: 1, rates, limit, seconds: 60, seed: 1, isFair: true, hasHeaders: true }
  const { tokens, refused, answered, used } = await measure(load)
  expect(jain(tokens)).toBeGreaterThan(0.95)
  expect(refused / answered).toBeLessThan(0.005)
  expect(used).toBeGreaterThan(0.97)
})

test.runIf(thorough)(
  'processes that share a limit store find the limit of a vendor that does not tell it, and stay below',
  async () => {
    const limit = 100
    const rates = [1.05, ...Array.from({ length: 9 }, () => 0.105)].map((part) => part * limit)
    const load = { processes: 24, rates, limit, seconds: 30, seed: 1, isFair: true, hasHeaders: false, isShared: true }
    const { refused, answered, used } = await measure(load)
    expect(refused / answered).toBeLessThan(0.005)
    expect(used).toBeGreaterThan(0.97)
  },
)

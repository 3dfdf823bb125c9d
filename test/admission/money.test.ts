import OpenAI from 'openai'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createGateway, memoryLedger, type Ledger } from '../../src/index.ts'
import { openai } from '../../src/providers/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { post } from '../endpoints/ask.ts'
import { askChat } from '../hosted.ts'
import { scene, streamEvents, whole } from './scene.ts'

const billed = { billing: { currency: 'CNY' } }

/** A ledger with one credited account. */
async function funded(micros: bigint, account = 'acme'): Promise<Ledger> {
  const ledger = memoryLedger()
  if (micros > 0n) await ledger.credit({ account, amount: micros, reference: 'start' })
  return ledger
}

async function balance(ledger: Ledger, account = 'acme'): Promise<bigint | undefined> {
  const found = await ledger.account(account)
  return found && found.balance + found.held
}

describe('a billed request', () => {
  test('costs the usage reported by the vendor at the price of the model', async () => {
    const { url, ledger, receipt, usage } = await scene(whole, {
      ...billed,
      storage: { ledger: await funded(1_000_000n) },
    })
    expect((await askChat(url)).status).toBe(200)
    expect((await receipt()).charge).toMatchObject({
      cost: '0.00003',
      overage: '0',
      currency: 'CNY',
      basis: 'reported',
    })
    expect(await ledger.account('acme')).toMatchObject({ balance: 999_970n, held: 0n })
    const { items } = await usage.list({ account: 'acme' })
    expect(items).toMatchObject([{ cost: 30n, promptTokens: 10, completionTokens: 20, basis: 'reported' }])
  })

  test('has the lines of its charge in the JSON of its receipt', async () => {
    const { url, receipt } = await scene(whole, { ...billed, storage: { ledger: await funded(1_000_000n) } })
    await askChat(url)
    const { charge } = await receipt()
    expect(charge?.lines).not.toEqual([])
    expect(JSON.parse(JSON.stringify({ charge }))).toEqual({
      charge: {
        cost: '0.00003',
        overage: '0',
        currency: 'CNY',
        basis: 'reported',
        lines: charge?.lines,
        rounding: charge?.rounding,
      },
    })
  })

  test('applies the price multiplier of the group', async () => {
    const { url, receipt } = await scene(whole, {
      ...billed,
      groups: { default: { models: '*', priceMultiplier: '1.5' } },
      storage: { ledger: await funded(1_000_000n) },
    })
    await askChat(url)
    expect((await receipt()).charge?.cost).toBe('0.000045')
  })

  test('costs the price of the deployment that answered if the route has no price', async () => {
    const down = openai({ name: 'down', baseURL: 'http://127.0.0.1:9' })
    const { url, receipt } = await scene(whole, {
      ...billed,
      models: (provider) => ({
        m: { route: ['expensive', 'cheap'] },
        expensive: { provider: down, price: { request: '1' } },
        cheap: { provider, price: { request: '0.25' } },
      }),
      storage: { ledger: await funded(1_000_000n) },
    })
    // The higher price of the two is held: the balance must cover it.
    expect((await askChat(url)).status).toBe(200)
    expect((await receipt()).charge?.cost).toBe('0.25')
  })

  test('is charged to the account of the key, for all keys of that account', async () => {
    const ledger = await funded(1_000_000n)
    const { url, receipt } = await scene(whole, {
      ...billed,
      keys: { 'sk-test': { account: 'acme' }, 'sk-second': { account: 'acme' } },
      storage: { ledger },
    })
    await askChat(url)
    await askChat(url, {}, { headers: { authorization: 'Bearer sk-second', 'content-type': 'application/json' } })
    await receipt()
    await receipt()
    expect(await balance(ledger)).toBe(1_000_000n - 60n)
  })

  test('that costs more than was held is charged in full, and the overage is reported', async () => {
    const ledger = await funded(1_000n)
    const { url, receipt, usage } = await scene(whole, {
      billing: { currency: 'CNY', defaults: { outputTokens: 0 } },
      model: { price: { output: '100' } },
      storage: { ledger },
    })
    await askChat(url)
    expect((await receipt()).charge).toMatchObject({ cost: '0.002', overage: '0.001999' })
    expect(await balance(ledger)).toBe(-1_000n)
    expect((await usage.list({})).items[0]).toMatchObject({ cost: 2_000n, overage: 1_999n })
    expect((await askChat(url)).status).toBe(429)
  })

  test('of unstated length is limited to the output that was held, with defaults.enforce', async () => {
    const { url, vendor } = await scene(whole, {
      billing: { currency: 'CNY', defaults: { outputTokens: 300, enforce: true } },
      storage: { ledger: await funded(1_000_000n) },
    })
    const limits = () =>
      vendor.requests.map(({ json }) => Reflect.get(Object(json), 'max_completion_tokens') as unknown)
    await askChat(url)
    await askChat(url, { max_completion_tokens: 400 })
    await askChat(url, { n: 2 })
    expect(limits()).toEqual([300, 400, 300])
    await post(url, '/responses', { model: 'm', input: 'Hi' })
    expect(vendor.requests.at(-1)).toMatchObject({ json: { max_tokens: 300 } })
  })

  test('of an unlimited account needs no balance and is still recorded', async () => {
    const ledger = await funded(0n)
    await ledger.open({ id: 'acme', unlimited: true })
    const { url, receipt } = await scene(whole, { ...billed, storage: { ledger } })
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    expect(await balance(ledger)).toBe(-30n)
  })

  test('of a free model needs no balance', async () => {
    const free = await scene(whole, {
      billing: { currency: 'CNY', unpriced: 'free' },
      models: (provider) => ({ m: provider }),
      storage: { ledger: await funded(0n) },
    })
    expect((await askChat(free.url)).status).toBe(200)
    expect((await free.receipt()).charge?.cost).toBe('0')
  })
})

describe('implausible usage', () => {
  const counting = (counts: object): VendorReply => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
    const head = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm' }
    return (_, response) =>
      void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ ...head, choices, usage: counts }))
  }

  test.each([
    [{ prompt_tokens: 10, completion_tokens: 9e15 }, {}, 8 * 100 + 1_024 + 10],
    [{ prompt_tokens: 9e15, completion_tokens: 10 }, {}, 8 * 2_000 + 10],
    [{ prompt_tokens: 9e15, completion_tokens: 9e15 }, { max_tokens: 50 }, 8 * 2_000 + 8 * 50 + 1_024],
  ])('%o is capped, and reported on the receipt and the failure channel', async (counts, body, cost) => {
    const failures: unknown[] = []
    const watch = (failure: unknown) => failures.push(failure)
    subscribe('modelhatch:failure', watch)
    onTestFinished(() => void unsubscribe('modelhatch:failure', watch))
    const ledger = await funded(1_000_000n)
    const { url, receipt } = await scene(counting(counts), {
      ...billed,
      model: { contextWindow: 2_000, maxOutputTokens: 100 },
      storage: { ledger },
    })
    expect((await askChat(url, body)).status).toBe(200)
    const { id, implausible } = await receipt()
    expect(implausible?.usage).toMatchObject(counts)
    expect(await balance(ledger)).toBe(1_000_000n - BigInt(cost))
    expect(failures).toContainEqual({ id, error: expect.objectContaining({ message: expect.stringContaining('9') }) })
  })

  test('is charged as reported below the cap', async () => {
    const ledger = await funded(10_000_000n)
    const counts = { prompt_tokens: 120_000, completion_tokens: 90_000, total_tokens: 210_000 }
    const { url, receipt } = await scene(counting(counts), { ...billed, storage: { ledger } })
    await askChat(url)
    const { implausible, charge } = await receipt()
    expect(implausible).toBeUndefined()
    expect(charge?.cost).toBe('0.21')
  })
})

describe('without balance', () => {
  test('rejects the request with insufficient_quota and calls no vendor', async () => {
    const { url, vendor } = await scene(whole, { ...billed, storage: { ledger: await funded(0n) } })
    const response = await askChat(url)
    expect(response.status).toBe(429)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(response.headers.get('retry-after')).toBeNull()
    expect(await response.json()).toMatchObject({ error: { code: 'insufficient_quota', type: 'insufficient_quota' } })
    expect(vendor.requests).toHaveLength(0)
  })

  test('the official client does not retry', async () => {
    const { url, receipts } = await scene(whole, { ...billed, storage: { ledger: await funded(0n) } })
    let requests = 0
    const client = new OpenAI({
      apiKey: 'sk-test',
      baseURL: `${url}/v1`,
      fetch: async (...request) => {
        requests++
        return fetch(...request)
      },
    })
    const asking = client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    await expect(asking).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' })
    expect(requests).toBe(1)
    expect(receipts).toHaveLength(0)
  })

  test('a request with a stated length is admitted only if the balance covers it', async () => {
    // The prompt is at most about 100 bytes; the rest is output.
    const { url, ledger, receipt } = await scene(whole, { ...billed, storage: { ledger: await funded(1_000n) } })
    expect((await askChat(url, { max_tokens: 2_000 })).status).toBe(429)
    expect((await askChat(url, { max_tokens: 500 })).status).toBe(200)
    await receipt()
    expect(await balance(ledger)).toBe(970n)
  })
})

describe('the hold', () => {
  const rejected = async (body: object) => {
    const { url, vendor } = await scene(whole, { ...billed, storage: { ledger: await funded(1_000n) } })
    const { status } = await post(url, '/completions', { model: 'm', prompt: 'Hi', ...body })
    return status === 429 && vendor.requests.length === 0
  }

  test('covers each of several prompts', async () => {
    expect(await rejected({ prompt: ['One', 'two', 'three'], max_tokens: 300 })).toBe(false)
    expect(await rejected({ prompt: ['One', 'two', 'three', 'four'], max_tokens: 300 })).toBe(true)
    expect(await rejected({ prompt: [[1], [2], [3], [4]], max_tokens: 300 })).toBe(true)
    expect(await rejected({ prompt: [1, 2, 3, 4], max_tokens: 300 })).toBe(false)
    expect(await rejected({ prompt: ['One', 'two'], n: 2, max_tokens: 300 })).toBe(true)
  })

  test('covers the largest of several length fields, because vendors differ in which one they use', async () => {
    expect(await rejected({ max_tokens: 900, max_completion_tokens: 1 })).toBe(false)
    expect(await rejected({ max_tokens: 1_000, max_completion_tokens: 1 })).toBe(true)
    expect(await rejected({ max_tokens: 1, max_completion_tokens: 1_000 })).toBe(true)
  })

  test('is not reduced by a length field that chat does not have', async () => {
    expect(await rejected({ max_output_tokens: 1 })).toBe(true)
  })
})

describe('a failed request', () => {
  test('costs nothing, and its hold is released', async () => {
    const { url, ledger, receipt, usage } = await scene((_, response) => void response.writeHead(500).end(), {
      ...billed,
      storage: { ledger: await funded(9_000n) },
    })
    expect((await askChat(url)).status).toBe(503)
    expect((await receipt()).charge).toMatchObject({ cost: '0', basis: 'none' })
    expect(await ledger.account('acme')).toMatchObject({ balance: 9_000n, held: 0n })
    expect((await usage.list({})).items).toMatchObject([{ outcome: 'failed', cost: 0n, basis: 'none' }])
  })

  test('rejected before its model is resolved holds nothing', async () => {
    const { url, ledger } = await scene(whole, { ...billed, storage: { ledger: await funded(9_000n) } })
    expect((await askChat(url, { model: 'unknown' })).status).toBe(404)
    expect((await askChat(url, { temperature: 9 })).status).toBe(400)
    expect(await ledger.account('acme')).toMatchObject({ balance: 9_000n, held: 0n })
  })
})

describe('a stream cut off by the vendor', () => {
  const outcomes = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((count) => {
    // The event before the last reports the usage.
    const reported = count >= streamEvents.length - 1
    const record = {
      outcome: count === streamEvents.length ? 'completed' : 'failed',
      cost: reported ? 30n : 0n,
      basis: reported ? 'reported' : 'none',
    }
    return [count, record] as const
  })

  test.each(outcomes)('after %i events settles once: %o', async (count, record) => {
    const { url, ledger, receipts, usage } = await scene(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`: started\n\n${streamEvents.slice(0, count).join('')}`, () => response.destroy())
      },
      { ...billed, storage: { ledger: await funded(9_000n) } },
    )
    await askChat(url, { stream: true }).then((response) => response.text())
    const { items } = await usage.list({})
    expect(items).toMatchObject([record])
    expect(receipts).toHaveLength(1)
    expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 9_000n - (items[0]?.cost ?? 0n) })
    expect(await ledger.audit()).toMatchObject({ settlements: items[0]?.cost, holds: 0n, faults: [] })
  })
})

describe('a model without a price', () => {
  const provider = openai({ apiKey: 'x' })

  test('is rejected at creation when billing is on', () => {
    expect(() => createGateway({ models: { m: provider }, billing: { currency: 'CNY' } })).toThrow(
      /models\["m"\] has no price/,
    )
    expect(() => createGateway({ models: { m: { provider } }, billing: { currency: 'CNY' } })).toThrow(
      /unpriced to 'free'/,
    )
    expect(() =>
      createGateway({ models: { a: { route: ['b'] }, b: { provider } }, billing: { currency: 'CNY' } }),
    ).toThrow(/models\["a"\] has no price/)
  })

  test('is served with unpriced: free, and always without billing', () => {
    expect(() =>
      createGateway({ models: { m: provider }, billing: { currency: 'CNY', unpriced: 'free' } }),
    ).not.toThrow()
    expect(() => createGateway({ models: { m: provider } })).not.toThrow()
    expect(() =>
      createGateway({ models: { m: { provider, price: { input: '1' } } }, billing: { currency: 'CNY' } }),
    ).not.toThrow()
  })

  test('of a custom registry is rejected when it is requested', async () => {
    const { url, vendor } = await scene(whole, {
      ...billed,
      models: () => ({
        find: (id) => ({ id, created: 1, ownedBy: 'x', deployments: [{ provider, model: id, order: 0, weight: 1 }] }),
        list: () => [],
      }),
      storage: { ledger: await funded(9_000n) },
    })
    expect((await askChat(url)).status).toBe(503)
    expect(vendor.requests).toHaveLength(0)
  })

  test('of an invalid amount is rejected by the name of the option', () => {
    expect(() =>
      createGateway({ models: { m: { provider, price: { input: '-1' } } }, billing: { currency: 'CNY' } }),
    ).toThrow('models["m"].price.input: a price cannot be negative')
  })
})

test('a custom registry may give prices as strings, on models and on deployments', async () => {
  const charges: (string | undefined)[] = []
  for (const priced of ['model', 'deployment'] as const) {
    const price = { input: '1', output: '1' }
    const { url, receipt, ledger } = await scene(whole, {
      billing: { currency: 'CNY' },
      models: (provider) => {
        const deployment = { provider, model: 'm', order: 0, weight: 1, ...(priced === 'deployment' && { price }) }
        const model = {
          id: 'm',
          created: 1,
          ownedBy: 'us',
          deployments: [deployment],
          ...(priced === 'model' && { price }),
        }
        return { find: () => model, list: () => [model] }
      },
    })
    await ledger.credit({ account: 'acme', amount: 9_000n, reference: 'start' })
    expect((await askChat(url)).status).toBe(200)
    charges.push((await receipt()).charge?.cost)
  }
  expect(charges).toEqual(['0.00003', '0.00003'])
})

test('a change of the system clock during a request does not change its duration', async () => {
  const date = vi.spyOn(Date, 'now')
  onTestFinished(() => date.mockRestore())
  const { url, receipt } = await scene((request, response) => {
    date.mockImplementation(() => 1)
    return whole(request, response)
  })
  expect((await askChat(url)).status).toBe(200)
  const { totalMs, firstByteMs } = await receipt()
  expect(totalMs).toBeGreaterThanOrEqual(firstByteMs ?? 0)
  expect(firstByteMs).toBeGreaterThan(0)
})

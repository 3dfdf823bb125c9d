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

/** A ledger that holds what a test gave to one account. */
async function funded(micros: bigint, account = 'acme'): Promise<Ledger> {
  const ledger = memoryLedger()
  if (micros > 0n) await ledger.credit({ account, amount: micros, reference: 'start' })
  return ledger
}

async function balance(ledger: Ledger, account = 'acme'): Promise<bigint | undefined> {
  const found = await ledger.account(account)
  return found && found.balance + found.held
}

describe('a call that is paid', () => {
  test('costs what the vendor counted, at the price of the model', async () => {
    const { url, ledger, receipt, usage } = await scene(whole, {
      ...billed,
      storage: { ledger: await funded(1_000_000n) },
    })
    expect((await askChat(url)).status).toBe(200)
    expect((await receipt()).charge).toEqual({ cost: '0.00003', overage: '0', currency: 'CNY', basis: 'reported' })
    expect(await ledger.account('acme')).toMatchObject({ balance: 999_970n, held: 0n })
    const { items } = await usage.list({ account: 'acme' })
    expect(items).toMatchObject([{ cost: 30n, promptTokens: 10, completionTokens: 20, basis: 'reported' }])
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

  test('costs what the deployment that answered costs, where a route has no price of its own', async () => {
    const down = openai({ name: 'down', baseURL: 'http://127.0.0.1:9' })
    const { url, receipt } = await scene(whole, {
      ...billed,
      models: (provider) => ({
        m: { route: ['dear', 'cheap'] },
        dear: { provider: down, price: { request: '1' } },
        cheap: { provider, price: { request: '0.25' } },
      }),
      storage: { ledger: await funded(1_000_000n) },
    })
    // The dearest of both was held: the balance must carry it.
    expect((await askChat(url)).status).toBe(200)
    expect((await receipt()).charge?.cost).toBe('0.25')
  })

  test('is paid by the account of its key, for all keys of the account', async () => {
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

  test('that comes to more than was held is charged in full, and the overage is told', async () => {
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

  test('of unstated length is held to what was held for it where the options say so', async () => {
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

  test('of an unlimited account needs no balance, and is written down all the same', async () => {
    const ledger = await funded(0n)
    await ledger.open({ id: 'acme', unlimited: true })
    const { url, receipt } = await scene(whole, { ...billed, storage: { ledger } })
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    expect(await balance(ledger)).toBe(-30n)
  })

  test('of a free model asks nothing of the ledger', async () => {
    const free = await scene(whole, {
      billing: { currency: 'CNY', unpriced: 'free' },
      models: (provider) => ({ m: provider }),
      storage: { ledger: await funded(0n) },
    })
    expect((await askChat(free.url)).status).toBe(200)
    expect((await free.receipt()).charge?.cost).toBe('0')
  })
})

describe('counts that no call can have used', () => {
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
  ])('%o are cut, and receipt and failure channel say so', async (counts, body, cost) => {
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

  test('are charged as they are up to there', async () => {
    const ledger = await funded(10_000_000n)
    const counts = { prompt_tokens: 120_000, completion_tokens: 90_000, total_tokens: 210_000 }
    const { url, receipt } = await scene(counting(counts), { ...billed, storage: { ledger } })
    await askChat(url)
    const told = await receipt()
    expect(told.implausible).toBeUndefined()
    expect(told.charge?.cost).toBe('0.21')
  })
})

describe('without money', () => {
  test('the call is refused with insufficient_quota, and no vendor is called', async () => {
    const { url, vendor } = await scene(whole, { ...billed, storage: { ledger: await funded(0n) } })
    const answer = await askChat(url)
    expect(answer.status).toBe(429)
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect(answer.headers.get('retry-after')).toBeNull()
    expect(await answer.json()).toMatchObject({ error: { code: 'insufficient_quota', type: 'insufficient_quota' } })
    expect(vendor.requests).toHaveLength(0)
  })

  test('the official client does not try again', async () => {
    const { url, receipts } = await scene(whole, { ...billed, storage: { ledger: await funded(0n) } })
    let asked = 0
    const client = new OpenAI({
      apiKey: 'sk-test',
      baseURL: `${url}/v1`,
      fetch: async (...request) => {
        asked++
        return fetch(...request)
      },
    })
    const asking = client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    await expect(asking).rejects.toMatchObject({ status: 429, code: 'insufficient_quota' })
    expect(asked).toBe(1)
    expect(receipts).toHaveLength(0)
  })

  test('a request that states its length is let through if it can be paid, and refused if it cannot', async () => {
    // About 100 bytes of question at most, and the answer.
    const { url, ledger, receipt } = await scene(whole, { ...billed, storage: { ledger: await funded(1_000n) } })
    expect((await askChat(url, { max_tokens: 2_000 })).status).toBe(429)
    expect((await askChat(url, { max_tokens: 500 })).status).toBe(200)
    await receipt()
    expect(await balance(ledger)).toBe(970n)
  })
})

describe('what is held', () => {
  const refused = async (body: object) => {
    const { url, vendor } = await scene(whole, { ...billed, storage: { ledger: await funded(1_000n) } })
    const { status } = await post(url, '/completions', { model: 'm', prompt: 'Hi', ...body })
    return status === 429 && vendor.requests.length === 0
  }

  test('is enough for each of several prompts', async () => {
    expect(await refused({ prompt: ['One', 'two', 'three'], max_tokens: 300 })).toBe(false)
    expect(await refused({ prompt: ['One', 'two', 'three', 'four'], max_tokens: 300 })).toBe(true)
    expect(await refused({ prompt: [[1], [2], [3], [4]], max_tokens: 300 })).toBe(true)
    expect(await refused({ prompt: [1, 2, 3, 4], max_tokens: 300 })).toBe(false)
    expect(await refused({ prompt: ['One', 'two'], n: 2, max_tokens: 300 })).toBe(true)
  })

  test('is enough for the largest of several limits, for vendors differ in which they go by', async () => {
    expect(await refused({ max_tokens: 900, max_completion_tokens: 1 })).toBe(false)
    expect(await refused({ max_tokens: 1_000, max_completion_tokens: 1 })).toBe(true)
    expect(await refused({ max_tokens: 1, max_completion_tokens: 1_000 })).toBe(true)
  })

  test('is not made small by a limit that means nothing to a chat', async () => {
    expect(await refused({ max_output_tokens: 1 })).toBe(true)
  })
})

describe('a call that fails', () => {
  test('costs nothing, and what was held is given back', async () => {
    const { url, ledger, receipt, usage } = await scene((_, response) => void response.writeHead(500).end(), {
      ...billed,
      storage: { ledger: await funded(9_000n) },
    })
    expect((await askChat(url)).status).toBe(503)
    expect((await receipt()).charge).toMatchObject({ cost: '0', basis: 'none' })
    expect(await ledger.account('acme')).toMatchObject({ balance: 9_000n, held: 0n })
    expect((await usage.list({})).items).toMatchObject([{ outcome: 'failed', cost: 0n, basis: 'none' }])
  })

  test('before it has a model holds nothing', async () => {
    const { url, ledger } = await scene(whole, { ...billed, storage: { ledger: await funded(9_000n) } })
    expect((await askChat(url, { model: 'unknown' })).status).toBe(404)
    expect((await askChat(url, { temperature: 9 })).status).toBe(400)
    expect(await ledger.account('acme')).toMatchObject({ balance: 9_000n, held: 0n })
  })
})

describe('a stream that the vendor cuts', () => {
  const outcomes = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((count) => {
    const whole = count === streamEvents.length
    const record = {
      outcome: whole ? 'completed' : 'failed',
      cost: whole ? 30n : 0n,
      basis: whole ? 'reported' : 'none',
    }
    return [count, record] as const
  })

  test.each(outcomes)('after %i events is settled once: %o', async (count, record) => {
    const { url, ledger, receipts, usage } = await scene(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`: begun\n\n${streamEvents.slice(0, count).join('')}`, () => response.destroy())
      },
      { ...billed, storage: { ledger: await funded(9_000n) } },
    )
    await askChat(url, { stream: true }).then((answer) => answer.text())
    const { items } = await usage.list({})
    expect(items).toMatchObject([record])
    expect(receipts).toHaveLength(1)
    expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 9_000n - (items[0]?.cost ?? 0n) })
    expect(await ledger.audit()).toMatchObject({ settlements: items[0]?.cost, holds: 0n, faults: [] })
  })
})

describe('a model without a price', () => {
  const provider = openai({ apiKey: 'x' })

  test('is refused when the gateway is created with billing', () => {
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

  test('is served for free if the options say so, and always where nobody pays', () => {
    expect(() =>
      createGateway({ models: { m: provider }, billing: { currency: 'CNY', unpriced: 'free' } }),
    ).not.toThrow()
    expect(() => createGateway({ models: { m: provider } })).not.toThrow()
    expect(() =>
      createGateway({ models: { m: { provider, price: { input: '1' } } }, billing: { currency: 'CNY' } }),
    ).not.toThrow()
  })

  test('of a registry of one’s own is refused when it is called', async () => {
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

  test('and a price that makes no sense are told by name', () => {
    expect(() =>
      createGateway({ models: { m: { provider, price: { input: '-1' } } }, billing: { currency: 'CNY' } }),
    ).toThrow('models["m"].price.input: a price cannot be negative')
  })
})

test("a registry of one's own gives prices as plain texts, of models as of deployments", async () => {
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

test('a change of the date in the middle of a call does not change how long it took', async () => {
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

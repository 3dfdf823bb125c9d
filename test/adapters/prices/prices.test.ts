import { updatePrices, waitForUpdate, type Provider } from '@pydantic/genai-prices'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { prices, type PricesOptions } from '../../../adapters/prices/prices.ts'
import { memoryLedger, type GatewayOptions, type ModelEntry } from '../../../src/index.ts'
import { formatMoney, parseMoney } from '../../../src/money/money.ts'
import type { Price } from '../../../src/money/prices/price.ts'
import type { Provider as Vendor } from '../../../src/providers/index.ts'
import { usageOf } from '../../../src/wire/usage.ts'
import { askChat } from '../../hosted.ts'
import { scene, whole } from '../../admission/scene.ts'

const noon = Date.parse('2026-10-01T12:00:00Z')
const priceOf = (provider: string, model: string, options: PricesOptions = {}, at = noon) =>
  prices(options).find({ provider, model, at })?.price.options

interface Asked extends Partial<Omit<GatewayOptions, 'models'>> {
  readonly models: (vendor: Vendor) => Record<string, ModelEntry>
}

/** A gateway in whose account `acme` are 100 units of money. */
async function served({ models, ...options }: Asked) {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 100_000_000n, reference: 'start' })
  return scene(whole, { billing: { currency: 'USD' }, prices: prices(), models, ...options, storage: { ledger } })
}

/** 10 prompt tokens and 20 completion tokens of gpt-5: 10 × 1.25 + 20 × 10 millionths, rounded up. */
const gpt5 = '0.000213'

describe('a price table', () => {
  test('prices all models of a wildcard, and the receipt names the table and its day', async () => {
    const { url, receipt, gateway } = await served({ models: (vendor) => ({ 'openai/*': vendor }) })
    expect((await askChat(url, { model: 'openai/gpt-5' })).status).toBe(200)
    const { charge } = await receipt()
    const source = { name: '@pydantic/genai-prices 0.1.8', date: '2026-09-23' }
    expect(charge).toMatchObject({ cost: gpt5, currency: 'USD', prices: source, rounding: '0.0000005' })
    expect(charge?.lines).toEqual([
      { item: 'input', quantity: 10, per: 1_000_000, price: '1.25', amount: '0.0000125' },
      { item: 'output', quantity: 20, per: 1_000_000, price: '10', amount: '0.0002' },
    ])
    expect(gateway.admin.prices()).toEqual({ ...source, currency: 'USD' })
  })

  test('completes a model of the options, and fills its context window', async () => {
    const { gateway } = await served({
      models: (vendor) => ({ 'gpt-5': vendor, mine: { provider: vendor, providerModel: 'gpt-5', contextWindow: 9 } }),
    })
    const [first, second] = await gateway.admin.models('default')
    expect(first).toMatchObject({ contextWindow: 400_000 })
    expect(first?.deployments[0]?.price?.options).toMatchObject({ input: '1.25', output: '10' })
    expect(second).toMatchObject({ contextWindow: 9 })
  })

  test('gives way to the price of a model', async () => {
    const price = { input: '1', output: '1' }
    const { url, receipt } = await served({ models: (provider) => ({ 'gpt-5': { provider, price } }) })
    await askChat(url, { model: 'gpt-5' })
    const { charge } = await receipt()
    expect(charge).toMatchObject({ cost: '0.00003' })
    expect(charge?.prices).toBeUndefined()
  })

  test('gives way to its own entries, which also complete it', () => {
    const own = {
      'openai/gpt-5': { input: '7', output: '7' },
      'openai/mine': { output: '1' },
      'house/x': { output: '2' },
    }
    const table = prices({ own, margin: '2' })
    const listed = (provider: string, model: string) => table.find({ provider, model, at: noon })
    expect(listed('openai', 'gpt-5')).toMatchObject({ price: { options: own['openai/gpt-5'] }, contextWindow: 400_000 })
    expect(listed('openai', 'mine')?.price.options).toEqual({ output: '1' })
    expect(listed('house', 'x')).toBe(listed('house', 'x'))
  })

  test('refuses or serves for nothing what it does not know, as the options say', async () => {
    const models = (vendor: Vendor) => ({ 'openai/*': vendor })
    const refusing = await served({ models })
    expect((await askChat(refusing.url, { model: 'openai/gpt-unheard-of' })).status).toBe(503)
    const free = await served({ models, billing: { currency: 'USD', unpriced: 'free' } })
    expect((await askChat(free.url, { model: 'openai/gpt-unheard-of' })).status).toBe(200)
    expect((await free.receipt()).charge).toMatchObject({ cost: '0', lines: [] })
    await expect(served({ models: (vendor) => ({ 'gpt-unheard-of': vendor }) })).rejects.toThrow(
      'models["gpt-unheard-of"] has no price',
    )
  })

  test('decides which models of a wildcard are listed, where the others are refused', async () => {
    const listing = (vendor: Vendor): Vendor => ({
      ...vendor,
      models: async () =>
        ['gpt-5', 'gpt-unheard-of'].map((id) => ({ id, object: 'model', created: 1, owned_by: 'openai' })),
    })
    const models = (vendor: Vendor) => ({ 'openai/*': listing(vendor) })
    const ids = async ({ gateway }: Awaited<ReturnType<typeof served>>) =>
      (await gateway.admin.models('default')).map(({ id, contextWindow }) => [id, contextWindow])
    expect(await ids(await served({ models }))).toEqual([['openai/gpt-5', 400_000]])
    expect(await ids(await served({ models, billing: { currency: 'USD', unpriced: 'free' } }))).toHaveLength(2)
  })

  test('belongs to the currency of the gateway', async () => {
    await expect(served({ models: (vendor) => ({ 'gpt-5': vendor }), billing: { currency: 'EUR' } })).rejects.toThrow(
      'prices: is in USD, but "billing.currency" is EUR',
    )
  })

  test('applies to the price multiplier of a group like any price', async () => {
    const groups = { default: { models: '*' as const, priceMultiplier: '2' } }
    const { url, receipt } = await served({ models: (vendor) => ({ 'openai/*': vendor }), groups })
    await askChat(url, { model: 'openai/gpt-5' })
    expect((await receipt()).charge).toMatchObject({ cost: '0.000425', rounding: '0' })
  })
})

describe('an entry', () => {
  test('has cache writes of both kinds, tools and the context window', () => {
    expect(prices().find({ provider: 'anthropic', model: 'claude-sonnet-4-5-20250929', at: noon })).toMatchObject({
      contextWindow: 200_000,
      price: {
        options: {
          input: '3',
          cached: '0.3',
          cacheWrite: '3.75',
          cacheWrite1h: '6',
          output: '15',
          longPrompts: [
            { above: 200_000, input: '6', cached: '0.6', cacheWrite: '7.5', cacheWrite1h: '12', output: '22.5' },
          ],
          tools: { web_search: '0.01' },
        },
      },
    })
  })

  test.each([
    ['openai', 'dall-e-3', {}, '0.04'],
    ['openai', 'dall-e-3', { size: '1024x1024', quality: 'standard' }, '0.04'],
    ['openai', 'dall-e-3', { quality: 'hd' }, '0.08'],
    ['openai', 'dall-e-3', { size: '1024x1024', quality: 'hd' }, '0.08'],
    ['openai', 'dall-e-3', { size: '1792x1024' }, '0.08'],
    ['openai', 'dall-e-3', { size: '1024x1792', quality: 'standard' }, '0.08'],
    ['openai', 'dall-e-3', { size: '1792x1024', quality: 'hd' }, '0.12'],
    ['openai', 'dall-e-2', { size: '256x256' }, '0.016'],
    ['openai', 'dall-e-2', { size: '512x512' }, '0.018'],
    ['openai', 'dall-e-2', { size: '1024x1024' }, '0.02'],
    ['gemini', 'imagen-4.0-fast-generate-001', {}, '0.02'],
    ['gemini', 'imagen-4.0-generate-001', { size: '1024x1024' }, '0.04'],
    ['gemini', 'imagen-4.0-ultra-generate-001', {}, '0.06'],
    ['xai', 'grok-imagine-image', {}, '0.02'],
  ])('of images has a rate for each size and quality: %s %s %o', (provider, model, asked, dollars) => {
    const table = prices({ margin: '2' }).find({ provider, model, at: noon })
    const cost = (price: Price | undefined) => formatMoney(price?.cost({ units: { images: 3, ...asked } }) ?? 0n)
    const thrice = formatMoney(3n * parseMoney(dollars))
    expect(cost(table?.cost)).toBe(thrice)
    expect(cost(table?.price)).toBe(formatMoney(6n * parseMoney(dollars)))
  })

  test('of images by tokens has a rate for them', () => {
    for (const model of ['gpt-image-1', 'gpt-image-1-mini', 'gpt-image-1.5', 'gpt-image-2']) {
      const used = { ...usageOf(0, 9), completion_tokens_details: { image_tokens: 9 } }
      expect(prices().find({ provider: 'openai', model, at: noon })?.price.unrated({ usage: used }), model).toEqual([])
    }
  })

  test('of audio by the hour has the shortest duration that the vendor charges', () => {
    expect(priceOf('groq', 'whisper-large-v3')).toEqual({ hour: '0.111', minimumSeconds: 10 })
    expect(priceOf('openai', 'whisper-1')).toEqual({ hour: '0.36' })
  })

  test.each([
    [
      'gemini',
      'gemini-2.5-flash',
      { input: '0.3', inputAudio: '1', cachedAudio: '0.1', cached: '0.03', output: '2.5' },
    ],
    ['xai', 'grok-3-mini', { input: '0.3', inputAudio: '0.3', cached: '0.075', output: '0.5' }],
    ['moonshot', 'kimi-k2', { input: '0.57', output: '2.3' }],
    ['google.generative-ai', 'gemini-2.5-flash-image', { input: '0.3', output: '2.5', outputImage: '30' }],
    ['perplexity', 'sonar', { input: '1', output: '1', request: '0.012' }],
  ])('is found by the name of the provider: %s %s', (provider, model, price) => {
    const { serviceTiers: _, ...rest } = priceOf(provider, model) ?? {}
    expect(rest).toEqual(price)
  })

  test('is not taken for a provider with a similar name', () => {
    expect(priceOf('my-openai-proxy', 'gpt-5')).toBeUndefined()
    expect(priceOf('my-openai-proxy', 'gpt-5', { vendors: { 'my-openai-proxy': 'openai' } })).toBeDefined()
  })

  test('is looked up by a name of limited length, which clients choose', () => {
    expect(priceOf('anthropic', `claude-sonnet-5-${'0'.repeat(200)}`)).toBeDefined()
    expect(priceOf('anthropic', `claude-sonnet-5-${'0'.repeat(300)}`)).toBeUndefined()
  })

  test('with a part that cannot be charged is unknown', () => {
    expect(priceOf('mistral', 'mistral-ocr-2505')).toBeUndefined()
    expect(priceOf('perplexity', 'sonar-deep-research')).toBeUndefined()
  })
})

describe('a price that changes', () => {
  test.each([
    ['2025-06-09T23:59:59.999Z', '10'],
    ['2025-06-10T00:00:00Z', '2'],
  ])('with the day is that of the start of the call: %s', (time, input) => {
    expect(priceOf('openai', 'o3', {}, Date.parse(time))?.input).toBe(input)
  })

  test.each([
    ['00:29:59.999', '0.135'],
    ['00:30:00', '0.27'],
    ['16:29:59.999', '0.27'],
    ['16:30:00', '0.135'],
  ])('with the time of day is that of the start of the call: %s', (time, input) => {
    expect(priceOf('deepseek', 'deepseek-chat', {}, Date.parse(`2026-10-01T${time}Z`))?.input).toBe(input)
  })

  test('is the same object until then, so that its model is not made again', () => {
    const table = prices()
    const at = (time: string) => table.find({ provider: 'deepseek', model: 'deepseek-chat', at: Date.parse(time) })
    expect(at('2026-10-01T12:00:00Z')).toBe(at('2026-10-02T13:00:00Z'))
    expect(at('2026-10-01T12:00:00Z')).not.toBe(at('2026-10-01T20:00:00Z'))
  })

  test('is charged as of the start of the call', async () => {
    let now = Date.parse('2026-10-01T16:29:00Z')
    const { url, receipt } = await served({
      models: (provider) => ({ 'deepseek-chat': provider }),
      prices: prices({ vendors: { openai: 'deepseek' } }),
      clock: () => now,
    })
    await askChat(url, { model: 'deepseek-chat' })
    expect((await receipt()).charge).toMatchObject({ cost: '0.000025', lines: [{ price: '0.27' }, { price: '1.1' }] })
    now += 120_000
    await askChat(url, { model: 'deepseek-chat' })
    expect((await receipt()).charge).toMatchObject({ cost: '0.000013', lines: [{ price: '0.135' }, { price: '0.55' }] })
  })
})

describe('currency and margin', () => {
  test('multiply the table exactly', () => {
    expect(priceOf('deepseek', 'deepseek-v4-pro', { currency: 'EUR', rate: '0.92', margin: '1.2' }, 0)).toEqual({
      input: '0.48024',
      cached: '0.004002',
      output: '0.96048',
    })
  })

  test('a margin may depend on the model', () => {
    const margin = ({ vendor, model }: { vendor: string; model: string }) =>
      `${vendor}/${model}` === 'openai/gpt-5' ? '2' : '1'
    expect(priceOf('openai', 'gpt-5', { margin })?.output).toBe('20')
    expect(priceOf('openai', 'gpt-5-mini', { margin })?.output).toBe('2')
  })

  test.each<[PricesOptions, string]>([
    [{ currency: 'EUR' }, 'Set "rate" to the price of one dollar in EUR'],
    [{ rate: '1e2' }, '"rate" must be a decimal number in a string'],
    [{ margin: '-1' }, '"margin" must be a decimal number in a string'],
    [{ own: { 'openai/x': { input: 'free' } } }, 'own["openai/x"].price.input'],
    [{ vendors: { x: 1 as never } }, '"vendors" must be an object of strings'],
  ])('%j is rejected with an error that names the option', (options, message) => {
    expect(() => prices(options)).toThrow(message)
  })
})

describe('a table that the host refreshes', () => {
  let installed: Provider[]
  beforeEach(async () => {
    installed = (await waitForUpdate()) as Provider[]
  })
  afterEach(() => replace(installed))

  test('applies to the next call, and its day is that of the host', () => {
    let day = '2026-10-01'
    const table = prices({ date: () => day })
    const find = () => table.find({ provider: 'openai', model: 'gpt-5', at: noon })?.price
    expect(find()?.source).toMatchObject({ date: '2026-10-01' })
    day = '2026-11-01'
    replace(installed.map((each) => (each.id === 'openai' ? cheaper(each) : each)))
    expect(find()?.options).toMatchObject({ input: '0.5', output: '1' })
    expect(find()?.source).toMatchObject({ date: '2026-11-01' })
    expect(table.source).toMatchObject({ date: '2026-11-01' })
  })
})

function replace(data: Provider[]): void {
  updatePrices(({ setProviderData }) => setProviderData(data))
}

function cheaper(provider: Provider): Provider {
  return {
    ...provider,
    models: [{ id: 'gpt-5', match: { equals: 'gpt-5' }, prices: { input_mtok: 0.5, output_mtok: 1 } }],
  }
}

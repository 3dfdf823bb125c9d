/** Newer documents of prices: read, compared, approved, and never used for what was admitted before. */
import { createHash } from 'node:crypto'
import { findProvider } from '@pydantic/genai-prices'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  prices,
  type PriceDifference,
  type PricesOptions,
  type RefreshOptions,
} from '../../../adapters/prices/prices.ts'
import { createGateway, memoryLedger, type Failure } from '../../../src/index.ts'
import { demo } from '../../../src/providers/index.ts'
import { scene, whole } from '../../admission/scene.ts'
import { askChat } from '../../hosted.ts'

const openai = findProvider({ providerId: 'openai' }) as NonNullable<ReturnType<typeof findProvider>>
const at = Date.parse('2026-10-01')
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** The document of genai-prices with one vendor, in which models have these prices. */
const vendorsWith = (changed: Record<string, object | undefined>) => {
  const models = openai.models.flatMap((info) => {
    if (!Object.hasOwn(changed, info.id)) return info
    const more = changed[info.id]
    return more === undefined ? [] : { ...info, prices: Object.assign({}, info.prices, more) }
  })
  return JSON.stringify([{ ...openai, models }])
}

/** The document of models.dev with these models of OpenAI. */
const modelsDev = (models: object, id = 'openai') => JSON.stringify({ [id]: { id, name: 'A vendor', models } })

interface Loaded {
  readonly differences: readonly PriceDifference[]
  readonly failures: readonly string[]
  readonly price: (model: string, provider?: string) => object | undefined
  readonly table: ReturnType<typeof prices>
  /** Loads again. */
  readonly again: () => Promise<void>
}

/** A table that has loaded `text` once. */
async function loaded(
  text: () => string,
  more: Partial<RefreshOptions> & { options?: PricesOptions } = {},
): Promise<Loaded> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const differences: PriceDifference[] = []
  const failures: string[] = []
  let ended: (() => void) | undefined
  const { options, ...refresh } = more
  const table = prices({
    ...options,
    refresh: {
      load: async () => text(),
      approve: (difference) => differences.push(difference) > 0,
      ...refresh,
    },
  })
  const settled = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  }
  ended = table.start?.((error) => failures.push((error as Error).message))
  onTestFinished(() => {
    ended?.()
    vi.useRealTimers()
  })
  await settled()
  return {
    differences,
    failures,
    table,
    price: (model, provider = 'openai') => table.find({ provider, model, at })?.price.options,
    again: async () => {
      vi.advanceTimersByTime(86_400_000)
      await settled()
    },
  }
}

describe('a document of genai-prices', () => {
  test('shows what it changes, and takes effect once it is approved', async () => {
    const text = vendorsWith({ 'gpt-5': { input_mtok: 1.5 }, 'gpt-4': undefined })
    const { differences, failures, price, table } = await loaded(() => text)
    expect(failures).toEqual([])
    const [difference] = differences
    expect(difference).toMatchObject({ name: 'genai-prices', sha256: hashOf(text), added: [] })
    expect(difference?.changed).toEqual([
      {
        vendor: 'openai',
        model: 'gpt-5',
        from: expect.objectContaining({ input_mtok: 1.25, output_mtok: 10 }),
        to: expect.objectContaining({ input_mtok: 1.5, output_mtok: 10 }),
      },
    ])
    expect(difference?.removed.map(({ model }) => model)).toEqual(['gpt-4'])
    expect(price('gpt-5')).toMatchObject({ input: '1.5', output: '10', serviceTiers: expect.anything() })
    expect(price('gpt-5-2025-08-07')).toMatchObject({ input: '1.5' })
    expect(price('claude-sonnet-4-5', 'anthropic')).toMatchObject({ input: '3' })
    expect(table.source).toEqual({
      name: `genai-prices ${hashOf(text).slice(0, 12)}`,
      date: new Date().toISOString().slice(0, 10),
    })
  })

  test('that does not arrive is given up, and the next one takes effect', async () => {
    const texts = [new Promise<string>(() => undefined), vendorsWith({ 'gpt-5': { input_mtok: 1.5 } })]
    const { failures, price, again } = await loaded(() => '', { everyMs: 50, load: async () => texts.shift() ?? '' })
    await expect.poll(() => failures).toEqual([expect.stringContaining('refresh.load() did not answer within 50 ms')])
    await again()
    expect(price('gpt-5')).toMatchObject({ input: '1.5' })
  })

  test('is asked about once, and does nothing if it is not approved', async () => {
    const asked: string[] = []
    let text = vendorsWith({ 'gpt-5': { input_mtok: 1.5 } })
    const { price, table, again } = await loaded(() => text, {
      approve: ({ sha256 }) => asked.push(sha256) > 1,
    })
    expect(price('gpt-5')).toMatchObject({ input: '1.25' })
    expect(table.source.name).toMatch(/^@pydantic/)
    await again()
    expect(asked).toHaveLength(1)
    text = vendorsWith({ 'gpt-5': { input_mtok: 1.6 } })
    await again()
    expect(price('gpt-5')).toMatchObject({ input: '1.6' })
    expect(asked).toHaveLength(2)
  })

  test('is read in its forms of prices by the length of the prompt', async () => {
    const tiers = { input_mtok: { base: 2, tiers: [{ start: 200_000, price: 4 }] } }
    const { price, differences } = await loaded(() => vendorsWith({ 'gpt-5': tiers }))
    expect(differences[0]?.changed[0]?.to).toMatchObject({ input_mtok: 2, 'input_mtok above 200000': 4 })
    expect(price('gpt-5')).toMatchObject({ input: '2', longPrompts: [{ above: 200_000, input: '4' }] })
  })
})

describe('a document of models.dev', () => {
  const cost = { input: 1.5, output: 12, cache_read: 0.15, context_over_200k: { input: 3, output: 18 } }

  test('changes the rates of tokens, and keeps what it does not have', async () => {
    const text = modelsDev({ 'gpt-5': { id: 'gpt-5', cost, limit: { context: 500_000, output: 1 } } })
    const { price, table, differences, failures } = await loaded(() => text)
    expect(failures).toEqual([])
    expect(differences[0]?.name).toBe('models.dev')
    expect(differences[0]?.removed).toEqual([])
    expect(price('gpt-5-2025-08-07')).toMatchObject({
      input: '1.5',
      output: '12',
      cached: '0.15',
      tools: { web_search: '0.01' },
      longPrompts: [{ above: 200_000, input: '3', output: '18' }],
    })
    expect(price('gpt-5-mini')).toMatchObject({ input: '0.25' })
    expect(table.find({ provider: 'openai', model: 'gpt-5', at })?.contextWindow).toBe(500_000)
  })

  test('adds models and vendors, also by newer tiers', async () => {
    const tiers = [{ tier: { type: 'context', size: 100_000 }, input: 2, output: 3 }]
    const models = { new: { cost: { input: 1, output: 2, tiers } }, free: { cost: { input: 0, output: 0 } }, image: {} }
    const { price, differences } = await loaded(() => modelsDev(models, 'somebody'))
    expect(differences[0]?.added.map(({ model }) => model)).toEqual(['new', 'free'])
    expect(price('new', 'somebody')).toEqual({
      input: '1',
      output: '2',
      longPrompts: [{ above: 100_000, input: '2', output: '3' }],
    })
    expect(price('image', 'somebody')).toBeUndefined()
  })

  test('has other names for some vendors', async () => {
    const models = { 'grok-4-0709': { cost: { input: 3.5, output: 15 } } }
    const { price } = await loaded(() => modelsDev(models, 'xai'))
    expect(price('grok-4', 'xai')).toMatchObject({ input: '3.5' })
  })

  test('is used for the vendors that the host names', async () => {
    const { price, differences } = await loaded(() => modelsDev({ 'gpt-5': { cost } }), {
      vendors: ['anthropic', 'openai'],
    })
    expect(price('gpt-5')).toMatchObject({ input: '1.5' })
    const others = await loaded(() => modelsDev({ 'gpt-5': { cost } }), { vendors: ['anthropic'] })
    expect([differences.length, others.differences.length]).toEqual([1, 0])
    expect(others.failures[0]).toMatch(/it has no models/)
  })
})

describe('a document that is probably wrong is refused:', () => {
  test.each<[string, string, RegExp]>([
    ['no JSON', '<html>', /JSON/],
    ['another list', '[1]', /a vendor has no "id" or no "models"/],
    [
      'a model without prices',
      JSON.stringify([{ id: 'openai', models: [{ id: 'a', match: {} }] }]),
      /a model of "openai" has no/,
    ],
    ['no models', '[]', /it has no models/],
    ['another object', '{"error":"later"}', /"error" has no "models"/],
    ['a cost without output', modelsDev({ a: { cost: { input: 1 } } }), /"openai\/a" has no "input" or no "output"/],
    ['a negative rate', vendorsWith({ 'gpt-5': { input_mtok: -1 } }), /cannot be: openai\/gpt-5\./],
    ['a rate as text', vendorsWith({ 'gpt-5': { input_mtok: '1' } }), /cannot be: openai\/gpt-5\./],
    ['an absurd rate', vendorsWith({ 'gpt-5': { new_mtok: 1e7 } }), /cannot be: openai\/gpt-5\./],
    ['ten times the price', vendorsWith({ 'gpt-5': { output_mtok: 100 } }), /factor of 10 .*: openai\/gpt-5\./],
    ['a tenth of the price', vendorsWith({ 'gpt-5': { output_mtok: 1 } }), /factor of 10/],
    ['nothing for the price', modelsDev({ 'gpt-5': { cost: { input: 0, output: 0 } } }), /factor of 10/],
    ['half of it', JSON.stringify([{ ...openai, models: openai.models.slice(0, 5) }]), /it lacks \d+ of \d+ models/],
  ])('%s', async (_, text, reason) => {
    const { failures, differences, price, table } = await loaded(() => text)
    expect(failures).toHaveLength(1)
    expect(failures[0]).toMatch(/^The new document of prices is not used: .* The present prices stay\.$/s)
    expect(failures[0]).toMatch(reason)
    expect(differences).toEqual([])
    expect(price('gpt-5')).toMatchObject({ input: '1.25', output: '10' })
    expect(table.source.name).toMatch(/^@pydantic/)
  })

  test('one that is not pinned', async () => {
    const text = vendorsWith({ 'gpt-5': { input_mtok: 1.5 } })
    const wrong = await loaded(() => text, { sha256: '0'.repeat(64) })
    expect(wrong.failures[0]).toContain(hashOf(text))
    expect(wrong.differences).toEqual([])
    const right = await loaded(() => text, { sha256: ['0'.repeat(64), hashOf(text)] })
    expect(right.price('gpt-5')).toMatchObject({ input: '1.5' })
  })

  test('one that cannot be loaded, and the next one is taken', async () => {
    let text = ''
    const { failures, price, again } = await loaded(() => {
      if (text === '') throw new Error('no network')
      return text
    })
    expect(failures[0]).toMatch(/no network/)
    text = vendorsWith({ 'gpt-5': { input_mtok: 1.5 } })
    await again()
    expect(price('gpt-5')).toMatchObject({ input: '1.5' })
    expect(failures).toHaveLength(1)
  })
})

test('calls that were admitted before keep their price, and receipts name the document', async () => {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 100_000_000n, reference: 'start' })
  const approved = Promise.withResolvers<boolean>()
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const text = vendorsWith({ 'gpt-5': { input_mtok: 5, output_mtok: 20 } })
  const table = prices({ refresh: { load: async () => text, approve: () => approved.promise } })
  const failures: Failure[] = []
  const { url, receipt, gateway } = await scene(
    async (request, response) => {
      arrived.resolve()
      await released.promise
      await whole(request, response)
    },
    {
      models: (provider) => ({ 'openai/*': provider }),
      prices: table,
      billing: { currency: 'USD' },
      storage: { ledger },
      hooks: { failure: (each) => failures.push(each) },
    },
  )
  const first = askChat(url, { model: 'openai/gpt-5' })
  await arrived.promise
  approved.resolve(true)
  while (table.source.name.startsWith('@')) await new Promise(setImmediate)
  released.resolve()
  expect((await first).status).toBe(200)
  expect((await receipt()).charge).toMatchObject({ cost: '0.000213', prices: { name: '@pydantic/genai-prices 0.1.8' } })
  expect((await askChat(url, { model: 'openai/gpt-5' })).status).toBe(200)
  // 10 × 5 + 20 × 20 millionths.
  expect((await receipt()).charge).toMatchObject({ cost: '0.00045', prices: table.source })
  expect(gateway.admin.prices()).toMatchObject({ name: table.source.name })
  expect(failures).toEqual([])
})

test('loading begins with the gateway and ends with it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  let loads = 0
  const load = async () => {
    loads++
    return vendorsWith({})
  }
  const table = prices({ refresh: { load, approve: () => true, everyMs: 1_000 } })
  vi.advanceTimersByTime(5_000)
  expect(loads).toBe(0)
  const make = () => createGateway({ keys: { 'sk-a': {} }, models: { m: demo() }, prices: table })
  const [one, other] = [make(), make()]
  expect(loads).toBe(1)
  await new Promise(setImmediate)
  vi.advanceTimersByTime(1_000)
  expect(loads).toBe(2)
  await one.close({ graceMs: 0 })
  await new Promise(setImmediate)
  vi.advanceTimersByTime(1_000)
  expect(loads).toBe(3)
  await other.close({ graceMs: 0 })
  vi.advanceTimersByTime(5_000)
  expect([loads, vi.getTimerCount()]).toEqual([3, 0])
})

test.each<[object, RegExp]>([
  [{ load: async () => '' }, /"refresh.approve" is required/],
  [{ approve: () => true }, /"refresh.load" is required/],
  [{ load: async () => '', approve: () => true, sha256: 'abc' }, /must be a SHA-256/],
  [{ load: async () => '', approve: () => true, everyMs: 0 }, /everyMs/],
  [{ load: async () => '', approve: () => true, url: 'x' }, /url/],
])('invalid options are refused: %o', (refresh, message) => {
  expect(() => prices({ refresh: refresh as never })).toThrow(message)
})

test('models that are about to end are named 30 days before', () => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const retirements = { 'openai/gpt-4': day(29), 'openai/gpt-5': day(40), 'openai/gpt-4o': day(1) }
  const provider = { ...demo(), name: 'openai' }
  const gateway = createGateway({
    keys: { 'sk-a': {} },
    models: {
      old: { provider, providerModel: 'gpt-4' },
      new: { provider, providerModel: 'gpt-5' },
      'openai/*': provider,
    },
    prices: prices({ retirements }),
  })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  expect(gateway.warnings().filter(({ code }) => code === 'model_retires')).toEqual([
    {
      code: 'model_retires',
      where: 'prices.retirements["openai/gpt-4"]',
      message: `openai/gpt-4 is ended by its vendor on ${day(29)}. Give the models that it serves another deployment.`,
    },
  ])
  expect(() => prices({ retirements: { 'openai/gpt-4': 'soon' } })).toThrow(/must be a day/)
})

/** What vendors count although a price has no rate for it. */
import { describe, expect, test } from 'vitest'
import { prices } from '../../adapters/prices/prices.ts'
import { Price } from '../../src/money/prices/price.ts'
import type { PriceOptions } from '../../src/money/prices/price-options.ts'
import { memoryLedger, type Failure } from '../../src/index.ts'
import type { Provider } from '../../src/providers/index.ts'
import { askChat } from '../hosted.ts'
import { scene, type SceneOptions } from './scene.ts'

const tokens = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 }

/** A gateway whose vendor answers with this usage and these fields. */
async function counting(usage: object, options: SceneOptions, rest: object = {}) {
  const failures: Failure[] = []
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000_000n, reference: 'start' })
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
  const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage, ...rest }
  const hosted = await scene((_, response) => void response.end(JSON.stringify(answer)), {
    billing: { currency: 'USD' },
    hooks: { failure: (failure) => failures.push(failure) },
    ...options,
    storage: { ledger },
  })
  const charged = async (body: object = {}) => {
    const response = await askChat(hosted.url, { max_tokens: 100, ...body })
    expect(response.status, await response.text()).toBe(200)
    return (await hosted.receipt()).charge
  }
  return { charged, failures, ledger }
}

const audio = { ...tokens, prompt_tokens_details: { audio_tokens: 40 } }

describe('a kind of token without a rate of its own', () => {
  test('is named in the receipt of each call, and reported as a failure once', async () => {
    const { charged, failures } = await counting(audio, { model: { price: { input: '2', output: '4' } } })
    expect(await charged()).toMatchObject({ cost: '0.0004', unrated: ['inputAudio'] })
    expect(JSON.parse(JSON.stringify(await charged()))).toMatchObject({ unrated: ['inputAudio'] })
    expect(failures.map(({ error }) => String(error))).toEqual([
      'Error: openai (m) counted "inputAudio", for which the price of the model "m" has no rate. Add it to the price. It was charged at the default.',
    ])
  })

  test('is none if the price has the rate, or charges for requests alone', async () => {
    const price = { input: '2', output: '4', inputAudio: '40' }
    const { charged, failures } = await counting(audio, { model: { price } })
    expect((await charged())?.unrated).toBeUndefined()
    const { charged: flat } = await counting(audio, { model: { price: { request: '1' } } })
    expect((await flat())?.unrated).toBeUndefined()
    expect(failures).toEqual([])
  })

  test.each<[string, PriceOptions, object, string[]]>([
    ['a cache', {}, { prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 4 } }, ['cacheWrite', 'cached']],
    [
      'an hour',
      { cacheWrite: '1' },
      { prompt_tokens_details: { cache_write_tokens: 9, cache_write_1h_tokens: 9 } },
      [],
    ],
    ['spoken answers', {}, { completion_tokens_details: { audio_tokens: 4 } }, ['outputAudio']],
    ['images', { image: '1' }, { completion_tokens_details: { image_tokens: 4 } }, []],
    ['reasoning', {}, { completion_tokens_details: { reasoning_tokens: 4 } }, []],
    ['a tool', { tools: { web_search: '1' } }, { server_tool_use: { code_calls: 1 } }, ['tools.code']],
    ['any tool', { tools: { '*': '1' } }, { server_tool_use: { code_calls: 1 } }, []],
  ])('%s', (_, more, details, missing) => {
    const price = new Price({ input: '1', output: '2', ...more })
    expect(price.unrated({ usage: { ...tokens, ...details } })).toEqual(missing)
  })
})

describe('the tier that the vendor says it served', () => {
  const models = (price?: PriceOptions) => (provider: Provider) => ({
    m: { provider, providerModel: 'gpt-5', ...(price && { price }) },
  })

  test.each([
    ['flex', '0.000313'],
    ['priority', '0.00125'],
    ['default', '0.000625'],
    ['scale', '0.000625'],
  ])('decides on the price of a table: %s', async (service_tier, cost) => {
    const { charged } = await counting(tokens, { models: models(), prices: prices() }, { service_tier })
    const charge = await charged()
    expect(charge).toMatchObject({ cost })
    expect(charge?.unrated).toBeUndefined()
  })

  test('is named if the price does not list it', async () => {
    const options = { models: models({ input: '1', output: '1' }) }
    const { charged, failures } = await counting(tokens, options, { service_tier: 'priority' })
    expect(await charged()).toMatchObject({ cost: '0.00015', unrated: ['serviceTiers.priority'] })
    expect(failures).toHaveLength(1)
  })

  test('of a table counts in holds only if the request or the host asks for it', async () => {
    const { charged, ledger } = await counting(tokens, { models: models(), prices: prices() })
    const held: bigint[] = []
    const hold = ledger.hold.bind(ledger)
    ledger.hold = (request) => {
      held.push(request.amount)
      return hold(request)
    }
    await charged()
    await charged({ service_tier: 'auto' })
    expect(held[0]).toBeLessThan(((held[1] as bigint) * 3n) / 2n)
    expect(held[1]).toBeLessThan(((held[0] as bigint) * 3n) / 2n)
    const asking = await counting(tokens, {
      models: (provider) => ({ m: { provider, providerModel: 'gpt-5', set: { service_tier: 'priority' } } }),
      prices: prices(),
    })
    const twice: bigint[] = []
    const holding = asking.ledger.hold.bind(asking.ledger)
    asking.ledger.hold = (request) => {
      twice.push(request.amount)
      return holding(request)
    }
    await asking.charged()
    expect(twice[0]).toBeGreaterThanOrEqual(2n * (held[0] as bigint) - 1n)
  })
})

test('a host of OpenAI that processes in one region costs a tenth more, of models that it says so for', () => {
  const input = (model: string, origin?: string) =>
    prices().find({ provider: 'openai', model, at: Date.parse('2026-10-01'), origin })?.price.options.input
  expect(input('gpt-5.4', 'https://eu.api.openai.com')).toBe('2.75')
  expect(input('gpt-5.4', 'https://api.openai.com')).toBe('2.5')
  expect(input('gpt-5', 'https://eu.api.openai.com')).toBe('1.25')
})

test('long prompts of Grok 4 cost twice as much', () => {
  const price = prices().find({ provider: 'xai', model: 'grok-4-0709', at: Date.parse('2026-10-01') })?.price
  const cost = (prompt: number) => price?.cost({ usage: { ...tokens, prompt_tokens: prompt, completion_tokens: 0 } })
  expect(cost(128_000)).toBe(384_000n)
  expect(cost(128_001)).toBe(768_006n)
})

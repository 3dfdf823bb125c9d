/** What the Interactions API counts is charged by Google's price lists, to the millionth, whole and streamed. */
import { describe, expect, test } from 'vitest'
import { memoryLedger, parseMoney } from '../../src/index.ts'
import { parseDecimal } from '../../src/money/money.ts'
import { gemini } from '../../src/providers/index.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { lists } from './published.ts'

/** By modality: text, audio, image. */
type Tokens = Readonly<Partial<Record<'text' | 'audio' | 'image', number>>>

interface Counted {
  readonly input: Tokens
  readonly cached?: Tokens
  readonly tools?: Tokens
  readonly output: Tokens
  readonly thoughts?: number
  readonly tier?: string
}

/** Sums as in `published.ts`: tokens times dollars for a million. Thoughts are output, the input of tools is input. */
const requests: readonly (readonly [model: keyof typeof lists, counted: Counted, sum: string])[] = [
  ['google/gemini-3-flash-preview', { input: { text: 8 }, output: { text: 44 } }, '8*0.5 + 44*3'],
  ['google/gemini-3-flash-preview', { input: { text: 507 }, output: { text: 76 }, thoughts: 200 }, '507*0.5 + 276*3'],
  [
    'google/gemini-3-flash-preview',
    { input: { text: 3_520 }, cached: { text: 3_512 }, output: { text: 44 } },
    '8*0.5 + 3512*0.05 + 44*3',
  ],
  [
    'google/gemini-3-flash-preview',
    { input: { text: 300, audio: 1_200 }, cached: { text: 100, audio: 900 }, output: { text: 20 } },
    '200*0.5 + 100*0.05 + 300*1 + 900*0.1 + 20*3',
  ],
  ['google/gemini-3-flash-preview', { input: { text: 100, image: 258 }, output: { text: 9 } }, '358*0.5 + 9*3'],
  [
    'google/gemini-3-flash-preview',
    { input: { text: 80 }, tools: { text: 2_347 }, output: { text: 88 } },
    '2427*0.5 + 88*3',
  ],
  ['google/gemini-3-pro-preview', { input: { text: 29 }, output: { text: 37 }, thoughts: 1_700 }, '29*2 + 1737*12'],
  [
    'google/gemini-3-pro-preview',
    { input: { text: 200_001 }, cached: { text: 100_000 }, output: { text: 300 }, thoughts: 700 },
    '100001*4 + 100000*0.4 + 1000*18',
  ],
  ['google/gemini-2.5-pro', { input: { text: 1_001 }, output: { text: 301 }, tier: 'flex' }, '1001*0.625 + 301*5'],
  ['google/gemini-2.5-flash-image', { input: { text: 9 }, output: { image: 1_290 } }, '9*0.3 + 1290*30'],
]

function listed(tokens: Tokens): object[] {
  return Object.entries(tokens).map(([modality, count]) => ({ modality, tokens: count }))
}

function sumOf(tokens: Tokens): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0)
}

function usageOf({ input, cached = {}, tools = {}, output, thoughts = 0 }: Counted): object {
  const totals = {
    total_input_tokens: sumOf(input),
    total_cached_tokens: sumOf(cached),
    total_tool_use_tokens: sumOf(tools),
    total_output_tokens: sumOf(output),
    total_thought_tokens: thoughts,
  }
  return {
    ...totals,
    total_tokens: sumOf(input) + sumOf(tools) + sumOf(output) + thoughts,
    input_tokens_by_modality: listed(input),
    cached_tokens_by_modality: listed(cached),
    tool_use_tokens_by_modality: listed(tools),
    output_tokens_by_modality: listed(output),
  }
}

describe.each(requests)('%s: %j', (model, counted, sum) => {
  test.each([false, true])('streamed: %s', async (stream) => {
    const ended = { id: 'v1', status: 'completed', usage: usageOf(counted), service_tier: counted.tier ?? 'standard' }
    const said = { type: 'model_output', content: [{ type: 'text', text: 'Hi' }] }
    const events = [
      { event_type: 'step.start', index: 0, step: said },
      { event_type: 'interaction.completed', interaction: ended },
    ]
    const vendor = await vendorFor((_, response) => {
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json')
      const frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`)
      response.end(stream ? frames.join('') : JSON.stringify({ ...ended, steps: [said] }))
    })
    const ledger = memoryLedger()
    await ledger.credit({ account: 'acme', amount: 1_000_000_000n, reference: 'start' })
    const provider = gemini({ baseURL: vendor.baseURL, apiKey: 'k', traits: { m: { interactions: true } } })
    const { url, receipt } = await hostedWith({
      keys: { 'sk-test': { account: 'acme' } },
      models: { m: { provider, price: lists[model]?.price ?? {} } },
      billing: { currency: 'USD' },
      storage: { ledger },
    })
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], stream }),
    })
    expect(answer.status, await answer.text()).toBe(200)
    const { charge, usageSource } = await receipt()
    const exact = sum.split(' + ').reduce((total, product) => {
      const [quantity = '', price = ''] = product.split('*')
      return total + BigInt(quantity) * parseDecimal(price, 18)
    }, 0n)
    expect(parseMoney(charge?.cost ?? '')).toBe((exact + 10n ** 18n - 1n) / 10n ** 18n)
    expect(usageSource).toBe('reported')
    const account = await ledger.account('acme')
    expect([account?.balance, account?.held]).toEqual([1_000_000_000n - parseMoney(charge?.cost ?? ''), 0n])
  })
})

/**
 * The arithmetic of the package `@pydantic/genai-prices` compared with ours at the same prices, on the usages whose cost
 * the vendors publish. Where they differ, the price lists decide.
 */
import { calcPrice, extractUsage, findProvider } from '@pydantic/genai-prices'
import { describe, expect, test } from 'vitest'
import { prices } from '../../../adapters/prices/prices.ts'
import { parseDecimal } from '../../../src/money/money.ts'
import { chatUsage } from '../../../src/wire/response-usage.ts'
import { usageOfMessage as anthropicUsage } from '../../../src/wire/message-usage.ts'
import { usageOf as geminiUsage } from '../../../src/providers/content/usage.ts'
import { readTokenUsage, readUsage } from '../../../src/wire/counts.ts'
import type { OutputItem } from '../../../src/wire/responses.ts'
import type { Usage } from '../../../src/wire/usage.ts'
import { published, type Published } from '../../money/published.ts'
import { hasShared, sharedBytes } from '../../shared.ts'

type Fields = Readonly<Record<string, unknown>>

/** After every change of a price in the table, outside the hours in which DeepSeek costs more. */
const at = Date.parse('2026-10-01T12:00:00Z')
const table = prices()

/** What the package reads otherwise, by the sum of the vendor's list. The lists agree with ours. */
const differences: Readonly<Record<string, string>> = {
  '100*3 + 55096*0.3 + 83*15 + 181*3 + 8*15': 'it does not add the iterations of a compaction',
  '8530*1.75 + 98*14 + 1*10000': 'it does not count calls of tools among the items of a response',
  '328*2 + 52*8 + 1*10000 + 1*2500 + 1*30000': 'it does not count calls of tools among the items of a response',
  '10*0.95 + 10*0.16 + 30*4': 'it reads cached tokens only in prompt_tokens_details',
  '32*1.5 + 32*0.15 + 6*7.5': 'it reads cached tokens only in prompt_tokens_details',
  '64*0.15 + 960*0.003 + 33*0.6': 'it reads cached tokens only in prompt_tokens_details',
  '410*2.5 + 585*12.5': 'it has no price of batches',
  '523*30 + 1842*150 + 1000*3': 'it has no price of fast mode',
  '25*5.5 + 150*27.5': 'it has no price of inference in the United States',
  '86*0.625 + 1920*0.0625 + 301*5': 'it has no price of flex',
  '1001*0.625 + 301*5': 'it has no price of flex',
  '67*2.5 + 20*0.25 + 1035*20': 'it has no price of priority',
  '11*2.25 + 7*18': 'it has no price of priority',
  '18*2.5 + 90*40 + 31*10 + 120*80': 'it has no rate for the audio of gpt-4o-audio-preview',
  '272000*2.5 + 1000*15': 'its long prompts begin at 272,000 tokens, not above them',
}

/** What the table lacks or has otherwise, so that neither arithmetic gives what the vendor's list says. */
const gaps: Readonly<Record<string, string>> = {
  '12*2 + 80*12 + 2*14000': 'searches of Gemini are not in its usage',
  '64*0.15 + 960*0.003 + 33*0.6': 'prices of DeepSeek since September 10, 2026',
  '11*1 + 434*1 + 1*5000': 'the request fee of a small search context',
  '94*3 + 100*3.75 + 2*15 + 2*10000': 'searches of OpenRouter',
}

/** The last usage of a recording, as if it were a complete response. */
function recorded(file: string, wire: Published['wire']): Fields {
  const text = sharedBytes(`recordings/${file}`).toString('utf8')
  if (file.endsWith('.json')) return JSON.parse(text) as Fields
  let whole: Record<string, unknown> = {}
  for (const [, json = ''] of text.matchAll(/^ ?data: ?(\{.*\})\s*$/gm)) {
    const event = JSON.parse(json) as Record<string, Fields>
    const part = event['response'] ?? event['message'] ?? event
    const usage = { ...(wire === 'messages' && (whole['usage'] as Fields)), ...(part['usage'] as Fields) }
    whole = { ...whole, ...part, ...(Object.keys(usage).length > 0 ? { usage } : { usage: whole['usage'] }) }
  }
  return whole
}

const wires: Readonly<
  Partial<Record<Published['wire'], { flavor: string; read: (body: Fields) => Usage | undefined }>>
> = {
  chat: { flavor: 'chat', read: ({ usage }) => readUsage(usage) },
  responses: { flavor: 'responses', read: ({ usage, output }) => chatUsage(usage, output as OutputItem[]) },
  messages: { flavor: 'default', read: ({ usage }) => anthropicUsage(usage as Fields) },
  gemini: { flavor: 'default', read: ({ usageMetadata }) => geminiUsage(usageMetadata) },
  embeddings: { flavor: 'embeddings', read: ({ usage }) => readTokenUsage(usage) },
}

interface Compared {
  readonly name: string
  readonly sum: string
  /** Dollars, not rounded. */
  readonly ours: number
  readonly theirs: number
}

function compare({ model: name, wire, usage, rest, sum }: Published): Compared | undefined {
  const [vendor = '', ...words] = name.split('/')
  const model = words.join('/')
  const provider = findProvider({ providerId: vendor })
  const price = table.find({ provider: vendor, model, at })?.price
  const form = wires[wire]
  if (provider === undefined || price === undefined || form === undefined) return undefined
  const body =
    typeof usage === 'string'
      ? recorded(usage, wire)
      : { ...(wire === 'gemini' ? { usageMetadata: usage } : { usage }), ...rest }
  const read = form.read(body)
  const { service_tier: tier = read?.service_tier } = body as { readonly service_tier?: string }
  const { lines } = price.lines({ usage: read, serviceTier: tier })
  const micros = lines.reduce((all, { amount }) => all + parseDecimal(amount, 24), 0n)
  const flavors = provider.extractors?.map(({ api_flavor: each }) => each) ?? []
  const flavor = flavors.includes(form.flavor) ? form.flavor : 'default'
  if (!flavors.includes(flavor)) return undefined
  const counted = extractUsage(provider, { ...body, model, modelVersion: model }, flavor).usage
  const theirs = calcPrice(counted, model, { providerId: vendor, timestamp: new Date(at) })
  return { name, sum, ours: Number(micros) / 1e24, theirs: theirs?.total_price ?? Number.NaN }
}

const compared = published
  .filter(({ usage }) => hasShared || typeof usage !== 'string')
  .flatMap((entry) => compare(entry) ?? [])

/** Dollars of a sum. */
function listed(sum: string): number {
  const products = sum.split(' + ').map((product) => product.split('*').map(Number))
  return products.reduce((all, [quantity = 0, price = 0]) => all + quantity * price, 0) / 1e6
}

/** Equal up to the inaccuracy of floating-point numbers. */
function isClose(left: number, right: number): boolean {
  return Math.abs(left - right) < 1e-12
}

describe('the arithmetic of the package and ours', () => {
  test.skipIf(!hasShared)('are compared on at least 60 usages', () => {
    expect(compared.length).toBeGreaterThanOrEqual(60)
    const sums = compared.map(({ sum }) => sum)
    expect(sums).toEqual(expect.arrayContaining([...Object.keys(differences), ...Object.keys(gaps)]))
  })

  test.each(compared)('agree on $name: $sum, or differ for a known reason', ({ sum, ours, theirs }) => {
    expect(isClose(ours, theirs)).toBe(!(sum in differences))
    expect(isClose(ours, listed(sum))).toBe(!(sum in gaps))
  })
})

/** Every model of the table, with every kind of usage that its vendor can report. */
import { waitForUpdate, type Provider } from '@pydantic/genai-prices'
import { expect, test } from 'vitest'
import { prices } from '../../../adapters/prices/prices.ts'
import type { Consumption } from '../../../src/money/prices/price.ts'
import { usageOf } from '../../../src/wire/usage.ts'

const prompt = (details: Record<string, number>): Consumption => ({
  usage: { ...usageOf(9, 0), prompt_tokens_details: details },
})
const answer = (details: Record<string, number>): Consumption => ({
  usage: { ...usageOf(0, 9), completion_tokens_details: details },
})
const tool = (name: string): Consumption => ({ usage: { ...usageOf(9, 9), server_tool_use: { [name]: 1 } } })
const tier = (serviceTier: string): Consumption => ({ usage: usageOf(9, 9), serviceTier })

interface Kind {
  readonly vendors?: RegExp
  /** The names of the models that report it. */
  readonly models?: RegExp
  readonly used: Consumption
}

const speaking = /audio-preview|gpt-audio|realtime|voice|native-audio|-live-|live-2|tts/
const hosted = /^(?!.*(?:audio|realtime|image|transcribe|embedding|davinci|gpt-3|babbage|curie|ada))(?:gpt|o\d)/
const kinds: readonly Kind[] = [
  { used: prompt({ cached_tokens: 4 }) },
  { vendors: /^anthropic$/, used: prompt({ cache_write_tokens: 4, cache_write_1h_tokens: 2 }) },
  { vendors: /^anthropic$/, used: tool('web_search_requests') },
  { vendors: /^anthropic$/, used: tool('web_fetch_requests') },
  ...['batch', 'priority'].map((name) => ({ vendors: /^anthropic$/, used: tier(name) })),
  { vendors: /^anthropic$/, models: /-(?:4-[6-9]|[5-9])(?:$|-)/, used: tier('us') },
  { vendors: /^anthropic$/, models: /opus-(?:4-[6-8]|5)/, used: tier('fast') },
  { vendors: /^(?:openai|google)$/, models: speaking, used: answer({ audio_tokens: 4 }) },
  { vendors: /^openai$/, models: /audio-preview|gpt-audio|realtime/, used: prompt({ audio_tokens: 4 }) },
  { vendors: /^google$/, models: /^gemini/, used: prompt({ audio_tokens: 4 }) },
  { vendors: /^x-ai$/, used: prompt({ audio_tokens: 4 }) },
  { vendors: /^(?:openai|google)$/, models: /image/, used: answer({ image_tokens: 4 }) },
  { vendors: /^google$/, models: /^gemini-[23]/, used: tool('web_search_requests') },
  ...['flex', 'batch', 'priority'].map((name) => ({
    vendors: /^google$/,
    models: /^gemini-(?:2\.5|3)/,
    used: tier(name),
  })),
  ...['web_search', 'file_search', 'code_interpreter'].map((name) => ({
    vendors: /^openai$/,
    models: hosted,
    used: tool(`${name}_calls`),
  })),
  ...['flex', 'priority', 'scale', 'batch'].map((name) => ({ vendors: /^openai$/, models: hosted, used: tier(name) })),
]

test('every model has a rate for each kind of usage that its vendor can report, or is listed as without', async () => {
  const table = prices()
  const without = new Map<string, string[]>()
  let walked = 0
  for (const { id: vendor, models } of (await waitForUpdate()) as Provider[]) {
    for (const { id: model } of models) {
      const at = Date.parse('2026-10-01T12:00:00Z')
      const price = table.find({ provider: vendor, model, at })?.price
      const note = (what: string) => {
        const key = `${vendor} ${what}`
        without.set(key, [...(without.get(key) ?? []), model])
      }
      if (price === undefined) note('without a price')
      for (const { vendors, models: names, used } of kinds) {
        if (price === undefined || !(vendors?.test(vendor) ?? true) || names?.test(model) === false) continue
        walked++
        for (const part of price.unrated(used)) note(part)
      }
    }
  }
  const inOrder = (left: string, right: string) => (left < right ? -1 : 1)
  const lines = [...without]
    .toSorted(([left], [right]) => inOrder(left, right))
    .map(([key, models]) => `${key}: ${models.toSorted(inOrder).join(' ')}\n`)
  expect(walked).toBeGreaterThan(2_000)
  await expect(lines.join('')).toMatchFileSnapshot('without-rates.txt')
})

/**
 * What is held before a call is never less than what is charged for it, whatever the request asks and the vendor then counts within
 * its limits. `npm run test:long` tries a million calls and prints how far the two are apart.
 */
import { expect, test } from 'vitest'
import { estimateOf } from '../../src/admission/estimate.ts'
import { highestCost } from '../../src/admission/highest-cost.ts'
import type { Model } from '../../src/models/contract.ts'
import { Price } from '../../src/money/prices/price.ts'
import { openai } from '../../src/providers/index.ts'
import { estimateTokens } from '../../src/wire/counts.ts'
import { long } from '../long.ts'
import { seeded } from '../../src/testing/random.ts'
import { byRule } from './by-rule.ts'
import { lists } from './published.ts'

const calls = long ? 1_000_000 : 10_000
const texts = { makes: 'text', lengthFields: ['max_completion_tokens', 'max_tokens'] } as const
const random = seeded(6)
const upTo = (most: number) => Math.floor(random() * (most + 1))
const oneOf = <T>(values: readonly T[]): T => values[upTo(values.length - 1)] as T

/** Texts whose tokens have very different lengths in bytes. */
const words = ['a ', 'tokenization ', '語', '🙂', '\u0000', '\\"', 'ñandú ']

const models = [...new Set(byRule.map(({ model }) => model))].map((id): { model: Model; price: Price } => {
  const price = new Price(lists[id]?.price ?? {})
  const provider = openai({ baseURL: 'http://127.0.0.1:1/v1', responses: false })
  const deployment = {
    provider,
    model: id,
    order: 1,
    weight: 1,
    allow: ['service_tier', 'tools', 'web_search_options'],
  }
  return { price, model: { id, created: 1, ownedBy: 'x', price, deployments: [deployment] } }
})

function requestFor(price: Price): Record<string, unknown> {
  const content = oneOf(words).repeat(1 + upTo(oneOf([10, 100, 3_000])))
  const tiers = Object.keys(price.options.serviceTiers ?? {})
  return {
    model: 'm',
    messages: [{ role: 'user', content }],
    [oneOf(['max_tokens', 'max_completion_tokens'])]: 1 + upTo(oneOf([20, 500, 20_000])),
    ...(random() < 0.3 && { n: 1 + upTo(4) }),
    ...(tiers.length > 0 && random() < 0.5 && { service_tier: oneOf([...tiers, 'auto', 'default']) }),
    ...(price.hasToolFees && random() < 0.3 && { tools: [{ type: 'web_search' }] }),
  }
}

/** What the vendor counts: at most a token for each byte of the request, and the output that the request allows. */
function usageOf(most: { prompt: number; output: number; tools: number }, price: Price) {
  const prompt = upTo(oneOf([most.prompt, Math.ceil(most.prompt / 4)]))
  const output = oneOf([most.output, upTo(most.output)])
  const cached = random() < 0.5 ? upTo(prompt) : 0
  const written = random() < 0.3 ? upTo(prompt - cached) : 0
  const audio = random() < 0.2 ? upTo(prompt - cached - written) : 0
  const searches = most.tools > 0 ? upTo(most.tools) : 0
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      ...(random() < 0.5 && { cache_write_1h_tokens: upTo(written) }),
      audio_tokens: audio,
    },
    completion_tokens_details: { reasoning_tokens: upTo(output), audio_tokens: random() < 0.2 ? upTo(output) : 0 },
    ...(searches > 0 && price.hasToolFees && { server_tool_use: { web_search_requests: searches } }),
  }
}

test(`what is held covers what is charged, in ${calls.toLocaleString('en')} calls`, { timeout: 600_000 }, () => {
  const ratios: number[] = []
  for (let made = 0; made < calls; made++) {
    const { model, price } = oneOf(models)
    const body = requestFor(price)
    const bytes = Buffer.byteLength(JSON.stringify(body))
    const order = { field: (name: string) => body[name], promptTokens: estimateTokens(bytes) }
    const estimate = estimateOf(texts, order, model)
    const multiplier = BigInt(oneOf([1_000_000, 500_000, 1_234_567]))
    const held = highestCost({ model, estimate, order, makes: 'text' }, multiplier, {})
    const output = Number(body['max_tokens'] ?? body['max_completion_tokens']) * Number(body['n'] ?? 1)
    const usage = usageOf({ prompt: bytes, output, tools: body['tools'] === undefined ? 0 : 10 }, price)
    const asked = body['service_tier']
    const served =
      asked === 'auto' || asked === undefined ? Object.keys(price.options.serviceTiers ?? {}) : [asked as string]
    const serviceTier = oneOf([undefined, ...served])
    const charged = price.cost({ usage, ...(serviceTier !== undefined && { serviceTier }) }, multiplier)
    if (charged > held) expect({ model: model.id, body, usage, serviceTier, charged, held }).toBe('covered')
    if (charged > 0n) ratios.push(Number(held) / Number(charged))
  }
  expect(ratios.length).toBeGreaterThan(calls * 0.9)
  ratios.sort((left, right) => left - right)
  const at = (share: number) => (ratios[Math.floor(share * (ratios.length - 1))] as number).toFixed(2)
  expect(Number(at(0))).toBeGreaterThanOrEqual(1)
  const shares = [0, 0.01, 0.1, 0.5, 0.9, 0.99].map((share) => `${share * 100} %: ${at(share)}`)
  if (long) process.stdout.write(`held ÷ charged of ${calls} calls, by quantile: ${shares.join(', ')}\n`)
})

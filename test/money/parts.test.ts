import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Price, type Consumption } from '../../src/money/prices/price.ts'
import type { PriceOptions, TokenPart } from '../../src/money/prices/price-options.ts'
import { parseDecimal } from '../../src/money/money.ts'
import { usageOf, type Usage } from '../../src/wire/usage.ts'

const prompt = (tokens: number, details: NonNullable<Usage['prompt_tokens_details']>): Usage => ({
  ...usageOf(tokens, 0),
  prompt_tokens_details: details,
})
const quantities = (price: PriceOptions, consumed: Consumption) =>
  Object.fromEntries(new Price(price).lines(consumed).lines.map(({ item, quantity }) => [item, quantity]))

/** A price for every kind of token, each different. */
const everyPart: Record<TokenPart, string> = {
  input: '1',
  cached: '0.1',
  cacheWrite: '1.25',
  cacheWrite1h: '2',
  inputAudio: '10',
  cachedAudio: '0.7',
  inputImage: '5',
  cachedImage: '0.6',
  inputVideo: '3',
  output: '4',
  reasoning: '6',
  outputAudio: '20',
  outputImage: '30',
  outputVideo: '40',
}

describe('a cache', () => {
  test('that keeps tokens for one hour is charged apart from one that keeps them for five minutes', () => {
    const price = new Price({ input: '3', output: '15', cached: '0.3', cacheWrite: '3.75', cacheWrite1h: '6' })
    const usage = prompt(1_000_000, {
      cached_tokens: 100_000,
      cache_write_tokens: 900_000,
      cache_write_1h_tokens: 400_000,
    })
    expect(price.cost({ usage })).toBe(30_000n + 1_875_000n + 2_400_000n)
  })

  test('that keeps tokens for one hour costs 1.6 times as much as one for five minutes, unless it has a price', () => {
    const usage = prompt(1_000_000, { cache_write_tokens: 1_000_000, cache_write_1h_tokens: 1_000_000 })
    expect(new Price({ input: '3', cacheWrite: '3.75' }).cost({ usage })).toBe(6_000_000n)
    expect(new Price({ input: '3', cacheWrite: '3.75', cacheWrite1h: '5' }).cost({ usage })).toBe(5_000_000n)
    expect(new Price({ input: '3' }).cost({ usage })).toBe(3_000_000n)
  })

  test('with unknown kinds of tokens counts as text first, so that fresh audio is not charged as cached', () => {
    const usage = prompt(100, { cached_tokens: 60, audio_tokens: 50 })
    expect(quantities(everyPart, { usage })).toEqual({ cached: 50, inputAudio: 40, cachedAudio: 10 })
  })

  test('with known kinds of tokens charges each at its own price', () => {
    const details = { cached_tokens: 60, audio_tokens: 50, image_tokens: 10 }
    const usage = prompt(100, { ...details, cached_tokens_details: { audio_tokens: 30, image_tokens: 5 } })
    expect(quantities(everyPart, { usage })).toEqual({
      input: 15,
      cached: 25,
      inputAudio: 20,
      cachedAudio: 30,
      inputImage: 5,
      cachedImage: 5,
    })
  })
})

describe('the length of the prompt', () => {
  const price = new Price({
    input: '3',
    output: '15',
    cached: '0.3',
    longPrompts: [
      { above: 200_000, input: '6', output: '22.5' },
      { above: 500_000, input: '9' },
    ],
  })

  test.each([
    [200_000, '3', '15'],
    [200_001, '6', '22.5'],
    [500_001, '9', '15'],
  ])('of %i tokens decides on the price of all tokens', (tokens, input, output) => {
    const expected = BigInt(tokens) * BigInt(input) + BigInt(Number(output) * 1000)
    expect(price.cost({ usage: usageOf(tokens, 1000) })).toBe(expected)
  })

  test('includes its cached tokens', () => {
    const usage = prompt(300_000, { cached_tokens: 299_000 })
    expect(price.cost({ usage })).toBe(6_000n + (299_000n * 3n) / 10n)
  })
})

describe('a service tier', () => {
  const price = new Price({
    input: '2',
    output: '8',
    request: '0.001',
    serviceTiers: { flex: '0.5', priority: { input: '4', output: '16' } },
  })
  const usage = usageOf(1_000, 1_000)

  test.each([
    [undefined, 11_000n],
    ['default', 11_000n],
    ['standard', 11_000n],
    ['flex', 6_000n],
    ['FLEX', 6_000n],
    ['priority', 21_000n],
    ['scale', 21_000n],
  ])('%s has its own price, one that is not listed the highest', (serviceTier, cost) => {
    expect(price.cost({ usage, serviceTier })).toBe(cost)
  })

  test('must say what long prompts cost in it', () => {
    const longPrompts = [{ above: 1_000, input: '9' }]
    expect(() => new Price({ input: '1', longPrompts, serviceTiers: { priority: { input: '2' } } })).toThrow(
      'price.serviceTiers["priority"]: say what long prompts cost in this tier with "longPrompts"',
    )
    const factor = new Price({ input: '1', longPrompts, serviceTiers: { flex: '0.5' } })
    expect(factor.cost({ usage: usageOf(2_000, 0), serviceTier: 'flex' })).toBe(9_000n)
  })
})

describe('tools that run at the vendor', () => {
  const usage = { ...usageOf(0, 0), server_tool_use: { web_search_requests: 3, code_interpreter_calls: 1, other: 2 } }

  test('are charged by the call', () => {
    expect(new Price({ tools: { web_search: '0.01', code_interpreter: '0.03' } }).cost({ usage })).toBe(60_000n)
    expect(new Price({ tools: { web_search: '0.01', '*': '0.5' } }).cost({ usage })).toBe(1_530_000n)
  })

  test('appear as lines with their names', () => {
    expect(quantities({ tools: { web_search: '0.01' } }, { usage })).toEqual({ 'tools.web_search': 3 })
  })
})

describe('other units', () => {
  test('an hour is charged by the millisecond, at least the shortest duration', () => {
    const price = new Price({ hour: '0.111', minimumSeconds: 10 })
    expect(price.cost({ units: { seconds: 3_600 } })).toBe(111_000n)
    expect(price.cost({ units: { seconds: 1 } })).toBe(309n)
    expect(price.cost({ units: { seconds: 0 } })).toBe(0n)
  })

  test('milliseconds of a floating-point number are not rounded up for its inaccuracy', () => {
    expect(new Price({ second: '0.1' }).cost({ units: { seconds: 1.1 } })).toBe(110_000n)
  })

  test('characters are charged per million', () => {
    expect(new Price({ characters: '15' }).cost({ units: { characters: 1_000 } })).toBe(15_000n)
  })
})

const tokens = fc.integer({ min: 0, max: 1_000_000 })
const usages: fc.Arbitrary<Usage> = fc.record({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  total_tokens: tokens,
  prompt_tokens_details: fc.record({
    cached_tokens: tokens,
    cache_write_tokens: tokens,
    cache_write_1h_tokens: tokens,
    audio_tokens: tokens,
    image_tokens: tokens,
    video_tokens: tokens,
    cached_tokens_details: fc.record({ audio_tokens: tokens, image_tokens: tokens }, { requiredKeys: [] }),
  }),
  completion_tokens_details: fc.record({
    reasoning_tokens: tokens,
    audio_tokens: tokens,
    image_tokens: tokens,
    video_tokens: tokens,
  }),
  server_tool_use: fc.record({ web_search_requests: fc.integer({ min: 0, max: 5 }) }),
})
const rate = fc.integer({ min: 0, max: 10_000_000 }).map((micros) => (micros / 1e6).toFixed(6))
const tokenPrices = fc.record(Object.fromEntries(Object.keys(everyPart).map((part) => [part, rate])), {
  requiredKeys: [],
})
const prices = fc
  .record({
    normal: tokenPrices,
    long: tokenPrices,
    above: tokens,
    flex: rate,
    priority: tokenPrices,
    search: rate,
    hour: rate,
  })
  .map(({ normal, long, above, flex, priority, search, hour }) => {
    const serviceTiers = { flex, priority: { ...priority, longPrompts: [] } }
    return new Price({
      ...normal,
      longPrompts: [{ ...long, above }],
      serviceTiers,
      tools: { web_search: search },
      hour,
    })
  })
const tiers = fc.constantFrom(undefined, 'flex', 'priority', 'scale')
const seconds = fc.integer({ min: 0, max: 100_000 }).map((ms) => ms / 1000)
const multipliers = fc.integer({ min: 0, max: 3_000_000 }).map(BigInt)

describe('for any usage, price and tier', () => {
  test('the lines and the rounding add up to the cost exactly', () => {
    fc.assert(
      fc.property(prices, usages, tiers, seconds, multipliers, (price, usage, serviceTier, time, multiplier) => {
        const consumed = { usage, serviceTier, units: { seconds: time } }
        const { lines, rounding } = price.lines(consumed, multiplier)
        const sum = [rounding, ...lines.map(({ amount }) => amount)].reduce(
          (all, each) => all + parseDecimal(each, 24),
          0n,
        )
        expect(sum).toBe(price.cost(consumed, multiplier) * 10n ** 18n)
        expect(parseDecimal(rounding, 24)).toBeLessThan(10n ** 18n)
      }),
    )
  })

  test('each line is its quantity times its unit price', () => {
    fc.assert(
      fc.property(prices, usages, tiers, multipliers, (price, usage, serviceTier, multiplier) => {
        for (const { quantity, per, price: unit, amount } of price.lines({ usage, serviceTier }, multiplier).lines) {
          expect(BigInt(quantity) * parseDecimal(unit, 24)).toBe(parseDecimal(amount, 24) * BigInt(per))
        }
      }),
    )
  })

  test('every token is counted once', () => {
    const price = new Price(everyPart)
    fc.assert(
      fc.property(usages, (usage) => {
        const { lines } = price.lines({ usage: { ...usage, server_tool_use: {} } })
        const counted = lines.reduce((sum, { quantity }) => sum + quantity, 0)
        expect(counted).toBe(usage.prompt_tokens + usage.completion_tokens)
      }),
    )
  })

  test('the bound is never below the cost', () => {
    fc.assert(
      fc.property(prices, usages, tiers, seconds, (price, usage, serviceTier, time) => {
        const { prompt_tokens: promptTokens, completion_tokens: outputTokens, server_tool_use: tools } = usage
        const asked = {
          promptTokens,
          outputTokens,
          units: { seconds: time },
          toolCalls: tools?.['web_search_requests'],
        }
        const cost = price.cost({ usage, serviceTier, units: { seconds: time } })
        expect(price.bound(asked)).toBeGreaterThanOrEqual(cost)
        if (serviceTier !== 'scale') {
          expect(price.bound({ ...asked, serviceTier: serviceTier ?? 'default' })).toBeGreaterThanOrEqual(cost)
        }
      }),
    )
  })
})

describe('the bound of images', () => {
  const price = new Price({ image: { '1024x1024 hd': '0.08', '1024x1024': '0.04', hd: '0.12', '*': '0.02' } })

  test.each([
    [{ size: '1024x1024', quality: 'standard' }, 40_000n],
    [{ size: '1024x1024' }, 80_000n],
    [{ size: '1024x1024', quality: 'auto' }, 80_000n],
    [{ size: '512x512' }, 120_000n],
    [{ quality: 'standard' }, 120_000n],
  ])('of %j is the highest price among those the vendor may choose', (units, bound) => {
    expect(price.bound({ promptTokens: 0, outputTokens: 0, units: { images: 1, ...units } })).toBe(bound)
  })
})

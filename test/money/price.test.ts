import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Price, parsePriceMultiplier } from '../../src/money/prices/price.ts'
import { usageOf, type Usage } from '../../src/wire/usage.ts'

describe('the price of tokens', () => {
  const price = new Price({ input: '3', output: '15', cached: '0.3', cacheWrite: '3.75', reasoning: '20' })

  test('is per million tokens', () => {
    expect(price.cost({ usage: usageOf(1_000_000, 0) })).toBe(3_000_000n)
    expect(price.cost({ usage: usageOf(0, 1_000_000) })).toBe(15_000_000n)
    expect(price.cost({ usage: usageOf(1_000, 200) })).toBe(3_000n + 3_000n)
  })

  test('counts cached tokens once, at their own price', () => {
    const usage: Usage = { ...usageOf(1_000_000, 0), prompt_tokens_details: { cached_tokens: 900_000 } }
    expect(price.cost({ usage })).toBe(300_000n + 270_000n)
  })

  test('counts tokens written to a cache and reasoning tokens once, at their own price', () => {
    const usage: Usage = {
      ...usageOf(1_000_000, 1_000_000),
      prompt_tokens_details: { cached_tokens: 500_000, cache_write_tokens: 500_000 },
      completion_tokens_details: { reasoning_tokens: 1_000_000 },
    }
    expect(price.cost({ usage })).toBe(150_000n + 1_875_000n + 20_000_000n)
  })

  test('of cached and reasoning tokens defaults to that of input and output', () => {
    const usage: Usage = {
      ...usageOf(10, 10),
      prompt_tokens_details: { cached_tokens: 5 },
      completion_tokens_details: { reasoning_tokens: 5 },
    }
    expect(new Price({ input: '1', output: '2' }).cost({ usage })).toBe(30n)
  })

  test('never counts more cached or reasoning tokens than the total', () => {
    const usage: Usage = {
      ...usageOf(10, 10),
      prompt_tokens_details: { cached_tokens: 1_000_000, cache_write_tokens: 1_000_000 },
      completion_tokens_details: { reasoning_tokens: 1_000_000 },
    }
    expect(new Price({ cached: '1', cacheWrite: '9', reasoning: '1' }).cost({ usage })).toBe(20n)
  })

  test('is rounded up once, at the end', () => {
    const tiny = new Price({ input: '0.000001', output: '0.000001' })
    expect(tiny.cost({ usage: usageOf(1, 1) })).toBe(1n)
    expect(tiny.cost({ usage: usageOf(500_000, 500_000) })).toBe(1n)
    expect(tiny.cost({ usage: usageOf(500_000, 500_001) })).toBe(2n)
    expect(tiny.cost({ usage: usageOf(0, 0) })).toBe(0n)
  })
})

describe('the price of other units', () => {
  test('of a request is added to all other costs', () => {
    expect(new Price({ request: '0.01', input: '1' }).cost({ usage: usageOf(5, 0) })).toBe(10_005n)
  })

  test('of images depends on size and quality, the most specific tier first', () => {
    const price = new Price({ image: { '1024x1024 hd': '0.08', '1024x1024': '0.04', hd: '0.12', '*': '0.1' } })
    const of = (size: string, quality: string) => price.cost({ units: { images: 2, size, quality } })
    expect(of('1024x1024', 'hd')).toBe(160_000n)
    expect(of('1024x1024', 'standard')).toBe(80_000n)
    expect(of('1792x1024', 'hd')).toBe(240_000n)
    expect(of('1792x1024', 'standard')).toBe(200_000n)
  })

  test('of an image without a matching tier is that of the most expensive tier', () => {
    const price = new Price({ image: { '256x256': '0.01', '512x512': '0.02' } })
    expect(price.cost({ units: { images: 1, size: '2048x2048' } })).toBe(20_000n)
    expect(price.cost({ units: { images: 1 } })).toBe(20_000n)
  })

  test('of seconds is charged by the millisecond', () => {
    const price = new Price({ second: '0.1' })
    expect(price.cost({ units: { seconds: 10 } })).toBe(1_000_000n)
    expect(price.cost({ units: { seconds: 0.0301 } })).toBe(3_100n)
  })
})

describe('the price multiplier of a group', () => {
  test('multiplies everything', () => {
    const price = new Price({ input: '3', request: '1' })
    expect(price.cost({ usage: usageOf(1_000_000, 0) }, parsePriceMultiplier('0.8'))).toBe(3_200_000n)
    expect(price.cost({ usage: usageOf(1_000_000, 0) }, parsePriceMultiplier('0'))).toBe(0n)
  })
})

describe('for any usage that a vendor reports', () => {
  const rate = fc.integer({ min: 0, max: 10_000_000 }).map((micros) => (micros / 1e6).toFixed(6))
  const prices = fc
    .record(
      { input: rate, output: rate, cached: rate, cacheWrite: rate, reasoning: rate, request: rate },
      { requiredKeys: [] },
    )
    .map((options) => new Price(options))
  const invalid = fc.constantFrom(Number.NaN, Infinity, -1, -0, 1e308, 0.5, '5' as never, true as never, null as never)
  const count = fc.oneof(fc.integer({ min: 0, max: 1e9 }), invalid)
  const usages: fc.Arbitrary<Usage> = fc.record({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }),
    completion_tokens_details: fc.record({ reasoning_tokens: count }),
  })

  test('a cost is never negative and never above the largest amount', () => {
    fc.assert(
      fc.property(prices, usages, (price, usage) => {
        const cost = price.cost({ usage })
        return cost >= 0n && cost <= 9_007_199_254_740_991n
      }),
    )
  })

  test('the upper bound for the same tokens is never below the cost', () => {
    fc.assert(
      fc.property(prices, usages, (price, usage) => {
        return (
          price.bound({ promptTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens }) >=
          price.cost({ usage })
        )
      }),
    )
  })

  test('more tokens never cost less', () => {
    const tokens = fc.integer({ min: 0, max: 1e9 })
    fc.assert(
      fc.property(prices, tokens, tokens, tokens, (price, prompt, completion, more) => {
        return (
          price.cost({ usage: usageOf(prompt + more, completion) }) >=
          price.cost({ usage: usageOf(prompt, completion) })
        )
      }),
    )
  })
})

describe('an invalid price', () => {
  test.each([
    [{ input: '-1' }, 'price.input: a price cannot be negative'],
    [{ output: 3 as never }, 'price.output: 3 is not a decimal number in a string'],
    [{ image: { hd: 'free' } }, 'price.image["hd"]: "free" is not a decimal number'],
    [{ second: '1e-3' }, 'price.second["*"]'],
  ])('%j is rejected with an error that names the field', (options, message) => {
    expect(() => new Price(options)).toThrow(message)
  })
})

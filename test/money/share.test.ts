/** A part of a price, with a fee: what it costs, and that its bound covers it. */
import { expect, test } from 'vitest'
import { Price, type PriceOptions } from '../../src/index.ts'
import { parseFactor, parseRate } from '../../src/money/prices/rate.ts'
import { shareOf } from '../../src/money/prices/share.ts'
import { seeded } from '../../src/testing/random.ts'

const prices: readonly PriceOptions[] = [
  { input: '3', output: '15', cached: '0.3', cacheWrite: '3.75' },
  { input: '3', output: '15', longPrompts: [{ above: 200, input: '6', output: '22.5' }] },
  { input: '2', output: '8', serviceTiers: { flex: '0.5', priority: { input: '5', output: '20' } } },
  { output: '1', request: '0.02', tools: { web_search: '0.01', '*': '0.03' } },
  { image: { '*': '0.04', hd: '0.08' }, second: '0.1', minimumSeconds: 10 },
  { hour: '0.36', units: { search: '0.002' }, characters: '15' },
  { input: '0.000001', output: '0.0000000001' },
]

test('it costs the factor of the price and the fee, rounded up, and its bound covers that', () => {
  const random = seeded(7)
  const whole = (most: number) => Math.floor(random() * most)
  for (const options of prices) {
    const price = new Price(options)
    for (let round = 0; round < 200; round++) {
      const [factor, fee] = [(whole(2_000_000) / 1e6).toFixed(6), (whole(1_000) / 1e6).toFixed(6)]
      const share = shareOf(price, parseFactor(factor, ''), parseRate(fee, ''))
      const [prompt, completion] = [whole(400), whole(400)]
      const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
      const units = { images: whole(3), seconds: whole(40), characters: whole(500), own: { search: whole(5) } }
      const serviceTier = [undefined, 'flex', 'priority'][whole(3)]
      const consumed = { usage, units, ...(options.serviceTiers && { serviceTier }) }
      // Of the host's price, in millionths; each rate of the share is rounded up at its twelfth decimal place.
      const exact = Number(price.exactly(consumed, parseFactor(factor, ''), 12)) / 1e6 + Number(fee) * 1e6
      const cost = Number(share.cost(consumed))
      expect(cost).toBeGreaterThanOrEqual(Math.ceil(exact - 1e-3))
      expect(cost).toBeLessThanOrEqual(Math.ceil(exact + 1e-3))
      const bound = share.bound({ promptTokens: prompt, outputTokens: completion, units })
      expect(bound).toBeGreaterThanOrEqual(share.cost(consumed))
    }
  }
})

test('it has the parts that the price has, so that the same requests are refused as unpriced', () => {
  const price = new Price({ input: '1', output: '2' }, { name: 'table', date: '2030-01-01' })
  const share = shareOf(price, parseFactor('0.5', ''), 0n)
  expect(share.options).toEqual({ input: '0.5', output: '1' })
  expect(share.source).toBe(price.source)
  expect(shareOf(price, parseFactor('0.5', ''), 1n).options).toEqual({
    input: '0.5',
    output: '1',
    request: '0.000000000001',
  })
})

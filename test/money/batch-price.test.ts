import { expect, test } from 'vitest'
import { batchPrice, tierInBatch } from '../../src/money/prices/batch-price.ts'
import { Price } from '../../src/money/prices/price.ts'
import { usageOf } from '../../src/wire/usage.ts'

const rates = { input: '2', output: '4', request: '0.01', tools: { web_search: '0.1' } }
const usage = { ...usageOf(1_000_000, 1_000_000), server_tool_use: { web_search_requests: 1 } }
const costs = (options: ConstructorParameters<typeof Price>[0], serviceTier?: string) =>
  batchPrice(new Price(options)).cost({ usage, ...(serviceTier !== undefined && { serviceTier }) })

test('tokens in a batch cost half, unless the price has the tier; fees of calls stay', () => {
  expect(costs(rates)).toBe(3_110_000n)
  expect(costs({ ...rates, serviceTiers: { batch: '0.25' } })).toBe(1_610_000n)
  expect(costs({ ...rates, serviceTiers: { batch: { output: '1' } } })).toBe(3_110_000n)
})

test('another tier is a factor on that of batches', () => {
  const tier = tierInBatch('batch+us')
  expect(tier).toBe('us')
  expect(costs({ ...rates, serviceTiers: { batch: '0.5', us: '1.1', 'batch+us': '0.55' } }, tier)).toBe(3_410_000n)
  expect(tierInBatch('batch')).toBeUndefined()
})

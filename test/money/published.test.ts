/** What is charged for usages of vendors equals what the vendors' own price lists say, to the millionth. */
import { describe, expect, test } from 'vitest'
import { memoryLedger, parseMoney, type Receipt } from '../../src/index.ts'
import { parseDecimal } from '../../src/money/money.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { hasShared } from '../shared.ts'
import { lists, published, type Published } from './published.ts'
import { answering, ask, providerFor } from './wires.ts'

/** The exact sum, scaled by 10^18. */
function exactSum(text: string): bigint {
  return text.split(' + ').reduce((sum, product) => {
    const [quantity = '', price = ''] = product.split('*')
    return sum + BigInt(quantity) * parseDecimal(price, 18)
  }, 0n)
}

async function receiptOf(entry: Published, stream: boolean): Promise<Receipt> {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount: 1_000_000_000n, reference: 'start' })
  const vendor = await vendorFor(answering(entry, stream))
  const { url, receipt } = await hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: {
      m: { provider: providerFor(entry, vendor.baseURL), price: entry.price ?? lists[entry.model]?.price ?? {} },
    },
    billing: { currency: 'USD' },
    storage: { ledger },
  })
  const answer = await ask(url, entry.wire, stream)
  expect(answer.status, await answer.text()).toBe(200)
  return receipt()
}

const name = ({ model, usage, from }: Published) => `${model} ${typeof usage === 'string' ? usage : from}`
const cases = published
  .filter(({ usage }) => hasShared || typeof usage !== 'string')
  .flatMap((entry) => {
    const isStreamed = !['images', 'transcription', 'embeddings'].includes(entry.wire)
    return (isStreamed ? [false, true] : [false]).map((stream) => ({ entry, stream, name: name(entry) }))
  })

describe('the charge equals the price list of the vendor', () => {
  test('for at least 60 usages of five vendors', () => {
    expect(published.length).toBeGreaterThanOrEqual(60)
    expect(new Set(published.map(({ model }) => model.split('/')[0])).size).toBeGreaterThanOrEqual(5)
    for (const { model, price } of published) expect(price ?? lists[model], model).toBeDefined()
  })

  test('which names its source, or that none was found', () => {
    for (const [model, { source, unconfirmed }] of Object.entries(lists)) {
      if (source === undefined) expect(unconfirmed, model).toEqual(['*'])
      else for (const each of [source].flat()) expect(each, model).toMatch(/^(https:\/\/|npm:)/)
    }
  })

  test.each(cases)('$name, streamed: $stream', async ({ entry, stream }) => {
    const { charge, usageSource } = await receiptOf(entry, stream)
    const sum = exactSum(entry.sum)
    expect(parseMoney(charge?.cost ?? '')).toBe((sum + 10n ** 18n - 1n) / 10n ** 18n)
    const lines = charge?.lines.reduce((total, { amount }) => total + parseDecimal(amount, 24), 0n)
    expect((lines ?? 0n) + parseDecimal(charge?.rounding, 24)).toBe(parseDecimal(charge?.cost, 24))
    if (entry.wire !== 'images' && entry.wire !== 'transcription') expect(usageSource).toBe('reported')
  })
})

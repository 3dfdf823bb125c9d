/** What is charged equals the vendors' published rules, for every combination of what they report. */
import { describe, expect, test } from 'vitest'
import { memoryLedger, parseMoney } from '../../src/index.ts'
import { parseDecimal } from '../../src/money/money.ts'
import { hostedWith, vendorFor } from '../hosted.ts'
import { byRule } from './by-rule.ts'
import { lists, published, type Published, type Wire } from './published.ts'
import { answering, ask, providerFor } from './wires.ts'

const wires: readonly Wire[] = ['messages', 'chat', 'responses', 'gemini']
const vendorOf = ({ model }: Published) => model.slice(0, model.indexOf('/'))

/** In millionths of a dollar, rounded up. */
function chargeBy(sum: string): bigint {
  const exact = sum.split(' + ').reduce((total, product) => {
    const [quantity = '', price = ''] = product.split('*')
    return total + BigInt(quantity) * parseDecimal(price, 18)
  }, 0n)
  return (exact + 10n ** 18n - 1n) / 10n ** 18n
}

test('there are at least 500 usages of at least eight vendors, all of them different', () => {
  const all = [...published, ...byRule]
  expect(new Set(all.map(({ model, usage, rest }) => JSON.stringify([model, usage, rest]))).size).toBe(all.length)
  expect(all.length).toBeGreaterThanOrEqual(500)
  expect(new Set(all.map(vendorOf)).size).toBeGreaterThanOrEqual(8)
  for (const { sum, from } of byRule) expect(sum, from).not.toContain('none')
})

describe.each(wires)('the charge of %s', (wire) => {
  test.each([false, true])('equals the rule of the vendor, streamed: %s', async (stream) => {
    const ledger = memoryLedger()
    await ledger.credit({ account: 'acme', amount: 10n ** 15n, reference: 'start' })
    let next: Published | undefined
    const vendor = await vendorFor((request, response) => answering(next as Published, stream)(request, response))
    const rows = byRule.filter((each) => each.wire === wire)
    const provider = providerFor(rows[0] as Published, vendor.baseURL)
    const models = Object.fromEntries(
      [...new Set(rows.map(({ model }) => model))].map((model) => [
        model,
        { provider, price: lists[model]?.price ?? {} },
      ]),
    )
    const { url, receipt } = await hostedWith({
      keys: { 'sk-test': { account: 'acme' } },
      models,
      billing: { currency: 'USD' },
      storage: { ledger },
    })
    const wrong: object[] = []
    for (const entry of rows) {
      next = entry
      const answer = await ask(url, wire, stream, entry.model)
      expect(answer.status, await answer.text()).toBe(200)
      const { charge } = await receipt()
      const expected = chargeBy(entry.sum)
      const charged = parseMoney(charge?.cost ?? '')
      if (charged !== expected) wrong.push({ ...entry, charged, expected, lines: charge?.lines })
    }
    expect(wrong).toEqual([])
  })
})

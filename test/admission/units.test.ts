/** What is held for a call by what its endpoint makes, whatever other fields its sender writes. */
import { describe, expect, test } from 'vitest'
import { memoryLedger, type PriceOptions } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { post } from '../endpoints/ask.ts'
import { formOf, send } from '../endpoints/forms.ts'
import { hostedWith } from '../hosted.ts'
import { wav } from '../sound.ts'

async function funded(amount: bigint, price: PriceOptions) {
  const ledger = memoryLedger()
  await ledger.credit({ account: 'acme', amount, reference: 'start' })
  return hostedWith({
    keys: { 'sk-test': { account: 'acme' } },
    models: { m: { provider: demo(), price } },
    storage: { ledger },
    billing: { currency: 'CNY' },
  })
}

describe('a recording', () => {
  test.each(['seconds', 'duration'])(
    'is held for a minute, and "%s" of its sender does not make it less',
    async (field) => {
      const { url, receipts } = await funded(30_000_000n, { second: '1' })
      const file = new Blob([wav({ seconds: 1 })])
      const answer = await send(url, '/audio/transcriptions', formOf(['model', 'm'], [field, '0.001'], ['file', file]))
      expect(answer.status).toBe(429)
      expect(receipts).toEqual([])
    },
  )
})

test('a text is not held as images, however many are asked for', async () => {
  const { url } = await funded(100_000n, { image: '1', output: '1', input: '1' })
  const messages = [{ role: 'user', content: 'Hi' }]
  expect((await post(url, '/chat/completions', { model: 'm', messages, n: 2, max_tokens: 5 })).status).toBe(200)
})

test.each([
  ['/images/generations', 3, 429],
  ['/images/generations', 2, 200],
])('%s holds the price of each image: %i of them at 2 in the account', async (path, n, status) => {
  const { url } = await funded(2_000_000n, { image: { '*': '5', '64x64': '1' } })
  expect((await post(url, path, { model: 'm', prompt: 'a sun', size: '64x64', n })).status).toBe(status)
})

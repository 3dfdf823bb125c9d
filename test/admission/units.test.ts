/** A hold covers the units of the endpoint; fields of other endpoints do not change it. */
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

describe('a transcription', () => {
  test.each(['seconds', 'duration'])(
    'holds the price of a minute; the field "%s" of a request does not reduce it',
    async (field) => {
      const { url, receipts } = await funded(30_000_000n, { second: '1' })
      const file = new Blob([wav({ seconds: 1 })])
      const response = await send(
        url,
        '/audio/transcriptions',
        formOf(['model', 'm'], [field, '0.001'], ['file', file]),
      )
      expect(response.status).toBe(429)
      expect(receipts).toEqual([])
    },
  )
})

test('a chat request with n holds no price of images', async () => {
  const { url } = await funded(100_000n, { image: '1', output: '1', input: '1' })
  const messages = [{ role: 'user', content: 'Hi' }]
  expect((await post(url, '/chat/completions', { model: 'm', messages, n: 2, max_tokens: 5 })).status).toBe(200)
})

test.each([
  ['/images/generations', 3, 429],
  ['/images/generations', 2, 200],
])('%s holds the price of each of %i images, with a balance of 2: status %i', async (path, n, status) => {
  const { url } = await funded(2_000_000n, { image: { '*': '5', '64x64': '1' } })
  expect((await post(url, path, { model: 'm', prompt: 'a sun', size: '64x64', n })).status).toBe(status)
})

/** A unit that a vendor counts, from its answer to the receipt, the charge, the records, CSV files and sums. */
import { text } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { createGateway, type Receipt } from '../../src/index.ts'
import { defineProvider, finish, text as said } from '../../src/providers/index.ts'
import { Price } from '../../src/money/prices/price.ts'
import { hosted } from '../hosted.ts'

const reader = (pages: number) =>
  defineProvider({
    name: 'reader',
    async *generate() {
      yield said('# Contract')
      yield finish('stop', { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15, pages })
    },
  })

async function served(pages: number, more: object = {}) {
  const receipts: Receipt[] = []
  const gateway = createGateway({
    models: { ocr: { provider: reader(pages), price: { page: '0.002' } } },
    keys: { 'sk-1': { account: 'acme' } },
    billing: { currency: 'EUR' },
    usage: { lines: true },
    hooks: { receipt: (receipt) => void receipts.push(receipt) },
    ...more,
  })
  const url = await hosted(gateway)
  await gateway.admin.accounts.open({ id: 'acme', unlimited: true })
  const read = () =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-1', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'ocr', messages: [{ role: 'user', content: 'Read it.' }] }),
    })
  return { admin: gateway.admin, receipts, read }
}

test('pages that a provider reports are charged and recorded', async () => {
  const { admin, receipts, read } = await served(7)
  const response = await read()
  expect(await response.json()).toMatchObject({ usage: { pages: 7 } })
  await expect.poll(async () => (await admin.usage.list({ all: true })).items.length).toBe(1)

  expect(receipts[0]).toMatchObject({ units: { pages: 7 }, charge: { cost: '0.014', basis: 'reported' } })
  expect(receipts[0]?.charge?.lines).toEqual([{ item: 'page', quantity: 7, per: 1, price: '0.002', amount: '0.014' }])
  const [record] = (await admin.usage.list({ account: 'acme' })).items
  expect(record).toMatchObject({ pages: 7, cost: '0.014' })
  expect(await admin.usage.statistics({ all: true, by: ['model'] })).toMatchObject([{ model: 'ocr', pages: 7 }])
  const [head = '', row = ''] = (await text(Readable.from(admin.csv.usage({ all: true })))).split('\r\n')
  expect(row.split(',')[head.split(',').indexOf('pages')]).toBe('7')
  expect((await admin.accounts.find('acme'))?.balance).toBe('-0.014')
})

test('more pages than one request can have are not charged', async () => {
  const { receipts, read } = await served(1e9)
  await (await read()).text()
  await expect.poll(() => receipts.length).toBe(1)
  expect(receipts[0]).toMatchObject({ units: { pages: 100_000 }, implausible: { units: { pages: 1e9 } } })
})

test('a hold covers ten pages, or as many as the options say', async () => {
  const few = await served(1, { billing: { currency: 'EUR', defaults: { pages: 3 } } })
  const many = await served(1)
  for (const [{ admin, read }, price] of [
    [few, '0.006'],
    [many, '0.02'],
  ] as const) {
    await admin.accounts.open({ id: 'acme', unlimited: false })
    expect((await read()).status).toBe(429)
    await admin.accounts.adjust({ account: 'acme', amount: price, reference: 'order-1' })
    expect((await read()).status).toBe(200)
  }
})

test('a caller whose money is capped needs a bound of the pages', async () => {
  const caps = [{ name: 'daily', period: 'day', money: '1' }]
  const unbounded = await served(1, { billing: { currency: 'EUR', caps } })
  const refused = await unbounded.read()
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ error: { param: 'model' } })
  const bounded = await served(1, { billing: { currency: 'EUR', caps, bounds: { pages: 5 } } })
  expect((await bounded.read()).status).toBe(200)
})

test('the price of a page follows the service tier', () => {
  const price = new Price({ page: '0.002', serviceTiers: { batch: '0.5' } })
  expect(price.cost({ units: { pages: 3 } })).toBe(6_000n)
  expect(price.cost({ units: { pages: 3 }, serviceTier: 'batch' })).toBe(3_000n)
})

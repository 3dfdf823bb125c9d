/** The material of invoices, from real requests, and the retention of records. */
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createGateway, memoryUsageStore, type GatewayOptions, type UsageStore } from '../../src/index.ts'
import { defineProvider, finish, text as said } from '../../src/providers/index.ts'
import { hosted } from '../hosted.ts'
import { plainUsageStore, usageRecord } from '../observe/usage/record.ts'

const parrot = defineProvider({
  name: 'parrot',
  async *generate() {
    yield said('hello')
    yield finish('stop', {
      prompt_tokens: 1_001,
      completion_tokens: 7,
      total_tokens: 1_008,
      prompt_tokens_details: { cached_tokens: 500 },
    })
  },
})

async function service(options: Partial<GatewayOptions> = {}) {
  let now = Date.parse('2030-03-31T21:59:00Z')
  const gateway = createGateway({
    models: {
      cheap: { provider: parrot, price: { input: '0.15', output: '0.6', cached: '0.015' } },
      dear: { provider: parrot, price: { input: '3', output: '15.7' } },
    },
    groups: { default: { models: '*', priceMultiplier: '1.37' } },
    keys: { 'sk-1': { account: 'acme' }, 'sk-2': { account: 'bolt' } },
    billing: { currency: 'EUR' },
    usage: { lines: true },
    clock: () => now,
    ...options,
  })
  const url = await hosted(gateway)
  for (const id of ['acme', 'bolt']) await gateway.admin.accounts.open({ id, unlimited: true })
  let asked = 0
  const ask = async (key: string, model: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'x'.repeat(4_100) }] })
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    expect(response.status).toBe(200)
    await response.text()
  }
  const chat = async (key: string, model: string) => {
    await ask(key, model)
    asked++
    await expect.poll(async () => (await gateway.admin.usage.list({ all: true })).items.length).toBe(asked)
  }
  return { admin: gateway.admin, ask, chat, set: (time: string) => void (now = Date.parse(time)) }
}

const micros = (amount: string) => Number((Number(amount) * 1e6).toFixed(3))

test('an invoice has each price line by account and model; lines and rest add up to what the ledger charged', async () => {
  const { admin, chat, set } = await service()
  await chat('sk-1', 'cheap')
  await chat('sk-1', 'cheap')
  await chat('sk-1', 'dear')
  await chat('sk-2', 'dear')
  set('2030-03-31T22:00:00Z')
  await chat('sk-1', 'cheap')
  const march = await admin.usage.invoice({ account: 'acme', month: '2030-03', timeZone: 'Europe/Berlin' })
  expect(march.map(({ account, model, requests }) => [account, model, requests])).toEqual([
    ['acme', 'cheap', 2],
    ['acme', 'dear', 1],
  ])
  expect(march[0]?.lines).toEqual([
    { item: 'cached', quantity: 1_000, per: 1_000_000, price: '0.02055', amount: '0.00002055' },
    { item: 'input', quantity: 1_002, per: 1_000_000, price: '0.2055', amount: '0.000205911' },
    { item: 'output', quantity: 14, per: 1_000_000, price: '0.822', amount: '0.000011508' },
  ])
  // Two requests, each of 118.9845 millionths, rounded up to 119.
  expect([march[0]?.cost, march[0]?.rest]).toEqual(['0.000238', '0.000000031'])
  const sum = march.reduce(
    (total, { lines, rest }) => total + micros(rest) + lines.reduce((all, line) => all + micros(line.amount), 0),
    0,
  )
  const charged = march.reduce((total, { cost }) => total + micros(cost), 0)
  expect(sum).toBeCloseTo(charged, 6)
  expect(await admin.usage.invoice({ all: true, month: '2030-03', timeZone: 'Europe/Berlin' })).toHaveLength(3)
  expect(
    (await admin.usage.invoice({ account: 'acme', month: '2030-04', timeZone: 'Europe/Berlin' }))[0]?.requests,
  ).toBe(1)
  expect((await admin.usage.invoice({ account: 'acme', month: '2030-03' }))[0]?.requests).toBe(3)
  await expect.poll(async () => (await admin.accounts.entries('acme')).items.length).toBe(4)
  const range = { from: Date.parse('2030-03-01T00:00:00Z'), to: Date.parse('2030-05-01T00:00:00Z') }
  const all = await admin.usage.invoice({ account: 'acme', ...range })
  const booked = (await admin.accounts.entries('acme')).items.reduce((total, { amount }) => total - micros(amount), 0)
  expect(all.reduce((total, { cost }) => total + micros(cost), 0)).toBeCloseTo(booked, 6)
  const csv = await text(
    Readable.from(admin.csv.invoice({ account: 'acme', month: '2030-03', timeZone: 'Europe/Berlin' })),
  )
  expect(csv.split('\r\n').slice(0, 3)).toEqual([
    'account,model,item,quantity,per,price,amount',
    'acme,cheap,cached,1000,1000000,0.02055,0.00002055',
    'acme,cheap,input,1002,1000000,0.2055,0.000205911',
  ])
})

test('without lines in the records, the whole cost is the rest', async () => {
  const { admin, chat } = await service({ usage: {} })
  await chat('sk-1', 'dear')
  const [item] = await admin.usage.invoice({ account: 'acme', month: '2030-03' })
  expect(item).toMatchObject({ lines: [], rest: item?.cost })
  expect((await admin.usage.list({ account: 'acme' })).items[0]).not.toHaveProperty('lines')
})

test.each([
  [{ account: 'acme' }],
  [{ account: 'acme', month: '2030-13' }],
  [{ account: 'acme', month: '2030-03', timeZone: 'Nowhere' }],
  [{ account: 'acme', month: '2030-03', from: 1 }],
  [{ account: 'acme', from: 5, to: 5 }],
  [{ month: '2030-03' }],
  [{ account: 'acme', all: true, month: '2030-03' }],
])('an invoice is not made for %j', async (question) => {
  const { admin } = await service()
  await expect(admin.usage.invoice(question as never)).rejects.toMatchObject({ status: 400 })
})

test('old records are deleted in batches while requests are recorded, and on demand', async () => {
  const usage = memoryUsageStore()
  const removed: number[] = []
  const removeBefore = usage.removeBefore?.bind(usage)
  const store: UsageStore = Object.assign(usage, {
    removeBefore: async (before: number, most: number, only?: 'refused') => {
      const count = (await removeBefore?.(before, most, only)) ?? 0
      if (only === undefined) removed.push(count)
      return count
    },
  })
  const old = Date.parse('2030-03-30T00:00:00Z')
  await store.append(
    Array.from({ length: 1_200 }, (_, at) => usageRecord({ id: `r${at}`, account: 'acme', startedAt: old + at })),
  )
  const keepMs = 86_400_000
  const { admin, ask } = await service({
    storage: { usage: store },
    usage: { keepMs },
    keys: { 'sk-1': { account: 'bolt' } },
  })
  expect((await admin.usage.list({ account: 'acme' })).items).toHaveLength(100)
  await ask('sk-1', 'dear')
  await expect.poll(() => removed).toEqual([500, 500, 200])
  expect((await admin.usage.list({ account: 'acme' })).items).toEqual([])
  await expect.poll(async () => (await admin.usage.list({ account: 'bolt' })).items.length).toBe(1)
  expect(await admin.usage.removeBefore(Date.parse('2031-01-01T00:00:00Z'))).toBe(1)
})

test('retention needs a store that can remove records, and at least an hour', () => {
  const options = { models: { m: parrot }, storage: { usage: plainUsageStore() } }
  expect(() => createGateway({ ...options, usage: { keepMs: 86_400_000 } })).toThrow(/usage\.keepMs.*cannot remove/)
  expect(() => createGateway({ models: { m: parrot }, usage: { keepMs: 1_000 } })).toThrow(/keepMs.*at least an hour/)
})

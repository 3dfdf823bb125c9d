/** A month of an account: what was paid and charged, and the balances before and after it. */
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createGateway, memoryLedger, memoryUsageStore, parseMoney, type Ledger } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { usageRecord } from '../observe/usage/record.ts'

type Entries = NonNullable<Ledger['entries']>

/** Books of three months in Berlin; the charges of requests are settled at the times of their records. */
async function books() {
  let now = Date.parse('2030-03-15T12:00:00Z')
  const clock = () => now
  const [ledger, usage] = [memoryLedger({ clock }), memoryUsageStore()]
  const gateway = createGateway({
    models: { demo: { provider: demo(), price: { input: '1' } } },
    billing: { currency: 'EUR' },
    storage: { ledger, usage },
    clock,
  })
  const { accounts } = gateway.admin
  const charge = async (id: string, amount: string, startedAt: string, endedAt = startedAt) => {
    now = Date.parse(endedAt)
    const cost = parseMoney(amount)
    await ledger.hold({ id, account: 'acme', amount: cost, leaseMs: 60_000 })
    await ledger.settle({ id, account: 'acme', amount: cost })
    await usage.append([usageRecord({ id, account: 'acme', model: 'demo', cost, startedAt: Date.parse(startedAt) })])
  }
  await accounts.topUp({ account: 'acme', amount: '100', reference: 'order-1' })
  await charge('req_1', '10', '2030-03-16T00:00:00Z')
  // April begins in Berlin at 22:00 UTC.
  await charge('req_2', '0.5', '2030-03-31T21:59:59Z', '2030-03-31T22:00:01Z')
  await charge('req_3', '2.25', '2030-04-10T00:00:00Z')
  await accounts.topUp({ account: 'acme', amount: '20', reference: 'order-2', note: 'thanks' })
  await accounts.adjust({ account: 'acme', amount: '-1', reference: 'correction' })
  await ledger.hold({ id: 'req_open', account: 'acme', amount: 5_000_000n, leaseMs: 86_400_000 })
  await charge('req_4', '4', '2030-05-01T00:00:00Z')
  return { admin: gateway.admin, usage, asked: { account: 'acme', timeZone: 'Europe/Berlin' } }
}

test('goes from the opening to the closing balance, which is the opening of the next month', async () => {
  const { admin, asked } = await books()
  const april = await admin.statement({ ...asked, month: '2030-04' })
  expect(april).toMatchObject({
    account: 'acme',
    from: Date.parse('2030-03-31T22:00:00Z'),
    to: Date.parse('2030-04-30T22:00:00Z'),
    opening: '90',
    credits: [
      { reference: 'order-2', amount: '20', note: 'thanks' },
      { reference: 'correction', amount: '-1' },
    ],
    charges: [{ model: 'demo', requests: 1, cost: '2.25' }],
    charged: '2.25',
    otherCharges: '0.5',
    closing: '106.25',
  })
  const march = await admin.statement({ ...asked, month: '2030-03' })
  expect(march).toMatchObject({ opening: '0', charged: '10.5', otherCharges: '-0.5', closing: april.opening })
  expect(await admin.statement({ ...asked, month: '2030-05' })).toMatchObject({ opening: '106.25', closing: '102.25' })
  expect(await admin.statement({ ...asked, month: '2029-01' })).toMatchObject({
    opening: '0',
    credits: [],
    closing: '0',
  })
})

test('as a file has rows of which the closing balance is the sum', async () => {
  const { admin, asked } = await books()
  const file = await text(Readable.from(admin.csv.statement({ ...asked, month: '2030-04' })))
  const [head, ...rows] = file.trim().split('\r\n')
  expect(head).toBe('kind,at,reference,note,model,item,quantity,per,price,amount')
  const amounts = rows.map((row) => parseMoney(row.split(',').at(-1) as string))
  expect(amounts.slice(0, -1).reduce((sum, amount) => sum + amount)).toBe(amounts.at(-1))
  expect(rows.map((row) => row.split(',')[0])).toEqual([
    'opening',
    'credit',
    'credit',
    'charge',
    'otherCharges',
    'closing',
  ])
})

test('needs an account that exists, and a month', async () => {
  const { admin } = await books()
  await expect(admin.statement({ account: 'nobody', month: '2030-04' })).rejects.toMatchObject({ status: 404 })
  await expect(admin.statement({ account: 'acme', month: '2030-13' })).rejects.toMatchObject({ status: 400 })
  await expect(admin.statement({ account: 'acme', month: '2030-04', timeZone: 'Moon' })).rejects.toMatchObject({
    status: 400,
  })
})

test('is refused where the ledger no longer has the entries', async () => {
  const ledger = memoryLedger()
  const entries = (ledger.entries as Entries).bind(ledger)
  ledger.entries = async (account, page) => ({ items: (await entries(account, page)).items.slice(0, 1) })
  const { admin } = createGateway({
    models: { demo: { provider: demo(), price: { input: '1' } } },
    billing: { currency: 'EUR' },
    storage: { ledger },
  })
  for (const reference of ['a', 'b']) await admin.accounts.topUp({ account: 'acme', amount: '5', reference })
  const month = new Date().toISOString().slice(0, 7)
  await expect(admin.statement({ account: 'acme', month })).rejects.toThrow('no longer has the entries')
})

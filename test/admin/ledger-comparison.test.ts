/** Refunds, and the comparison of the ledger with usage records. */
import { expect, test } from 'vitest'
import { createGateway, memoryLedger, memoryUsageStore, type Difference, type Refund } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { usageRecord } from '../observe/usage/record.ts'

const hour = 3_600_000
const start = Date.UTC(2030, 0, 10)

function service() {
  let now = start
  const clock = () => now
  const usage = memoryUsageStore()
  const ledger = memoryLedger({ clock })
  const gateway = createGateway({
    models: { m: { provider: demo(), price: { input: '1', output: '1' } } },
    billing: { currency: 'EUR' },
    storage: { usage, ledger },
    clock,
  })
  const settle = async (id: string, amount: bigint, account = 'acme') => ledger.settle({ id, account, amount })
  const record = async (id: string, cost: bigint, startedAt = now, account = 'acme') =>
    usage.append([usageRecord({ id, account, cost, startedAt })])
  const compare = async (from: number, to: number) => {
    const found: Difference[] = []
    for await (const each of gateway.admin.accounts.differences({ account: 'acme', from, to })) found.push(each)
    return found
  }
  return { admin: gateway.admin, ledger, usage, settle, record, compare, set: (time: number) => void (now = time) }
}

test('books and usage that agree have no differences, whatever the order of charges and records', async () => {
  const { settle, record, compare, set } = service()
  await record('before', 5n, start - 1)
  await settle('before', 5n)
  await settle('one', 7n)
  await record('one', 7n)
  await record('free', 0n)
  await record('video', 9n)
  set(start + 20 * hour)
  await settle('video', 9n)
  await settle('foreign', 3n, 'bolt')
  expect(await compare(start, start + 10 * hour)).toEqual([])
  expect(await compare(start + 10 * hour, start + 30 * hour)).toEqual([])
})

test('a charge counts although one after it has an earlier time, of another clock', async () => {
  const { settle, record, compare, set } = service()
  await settle('one', 7n)
  await record('one', 7n)
  set(start - 1_000)
  await settle('slow', 5n)
  await record('slow', 5n)
  expect(await compare(start, start + hour)).toEqual([])
})

test('each difference is named, with both amounts', async () => {
  const { settle, record, compare } = service()
  await settle('only charged', 7n)
  await record('only recorded', 5n)
  await settle('both', 8n)
  await record('both', 2_000_000n)
  await settle('fine', 1n)
  await record('fine', 1n)
  const expected = [
    { kind: 'amount', id: 'both', charged: '0.000008', recorded: '2' },
    { kind: 'uncharged', id: 'only recorded', recorded: '0.000005' },
    { kind: 'unrecorded', id: 'only charged', charged: '0.000007' },
  ]
  const found = await compare(start - hour, start + hour)
  expect(found.toSorted((left, right) => (left.kind < right.kind ? -1 : 1))).toEqual(expected)
  expect(await compare(start + hour, start + 2 * hour)).toEqual([])
})

test('an erased account has no differences', async () => {
  const { admin, settle, record, compare } = service()
  await settle('one', 7n)
  await record('one', 7n)
  await admin.erase('acme')
  expect(await compare(start - hour, start + hour)).toEqual([])
})

test('a request is refunded once, with a reason, and never by more than it cost', async () => {
  const { admin, settle, record, compare } = service()
  await admin.accounts.topUp({ account: 'acme', amount: '10', reference: 'order-1' })
  await settle('req_1', 4_000_000n)
  await record('req_1', 4_000_000n)
  const refund = (given: Refund) => admin.accounts.refund(given)
  const wanted = { account: 'acme', request: 'req_1', reason: 'The answer was cut short.' }
  await expect(refund({ ...wanted, amount: '4.000001' })).rejects.toMatchObject({ status: 400, param: 'amount' })
  await expect(refund({ ...wanted, amount: '-1' })).rejects.toMatchObject({ status: 400, param: 'amount' })
  await expect(refund({ ...wanted, reason: '' })).rejects.toMatchObject({ status: 400, param: 'reason' })
  await expect(refund({ ...wanted, account: 'bolt' })).rejects.toMatchObject({ status: 404 })
  await expect(refund({ ...wanted, request: 'req_2' })).rejects.toMatchObject({ status: 404 })
  expect(await refund({ ...wanted, amount: '1.5' })).toEqual({ balance: '7.5', repeated: false })
  expect(await refund({ ...wanted, amount: '1.5' })).toEqual({ balance: '7.5', repeated: true })
  await expect(refund(wanted)).rejects.toMatchObject({ status: 409 })
  expect((await admin.accounts.entries('acme')).items[0]).toMatchObject({
    kind: 'credit',
    amount: '1.5',
    reference: 'refund:req_1',
    note: 'The answer was cut short.',
  })
  expect((await admin.accounts.audit()).faults).toEqual([])
  expect(await compare(start - hour, start + hour)).toEqual([])
})

test('a refund without an amount gives back all that the request cost', async () => {
  const { admin, settle, record } = service()
  await settle('req_1', 4_000_000n)
  await record('req_1', 4_000_000n)
  expect(await admin.accounts.refund({ account: 'acme', request: 'req_1', reason: 'x' })).toMatchObject({
    balance: '0',
  })
  await record('free', 0n)
  await expect(admin.accounts.refund({ account: 'acme', request: 'free', reason: 'x' })).rejects.toMatchObject({
    status: 400,
  })
})

test('old charges are compacted into an opening entry, by account or for all, but not those of the last month', async () => {
  const { admin, settle, compare, set } = service()
  await admin.accounts.topUp({ account: 'acme', amount: '10', reference: 'order-1' })
  for (let index = 0; index < 1_200; index++) await settle(`req_${index}`, 1_000n)
  await settle('other', 5n, 'bolt')
  const now = start + 100 * 24 * hour
  set(now)
  await settle('recent', 7_000n)
  const before = await admin.accounts.audit()
  await expect(admin.accounts.compact({ account: 'acme', before: now - 24 * hour })).rejects.toMatchObject({
    status: 400,
    param: 'before',
  })
  await expect(admin.accounts.compact({ before: start } as never)).rejects.toMatchObject({ status: 400 })
  expect(await admin.accounts.compact({ account: 'acme', before: start + 1 })).toBe(1_200)
  expect(await admin.accounts.compact({ all: true, before: start + 1 })).toBe(1)
  const { items } = await admin.accounts.entries('acme')
  expect(items.map(({ kind, amount }) => [kind, amount])).toEqual([
    ['settle', '-0.007'],
    ['opening', '-1.2'],
    ['credit', '10'],
  ])
  expect(await admin.accounts.audit()).toEqual(before)
  await expect(compare(start, start + hour)).rejects.toMatchObject({ status: 400, param: 'from' })
})

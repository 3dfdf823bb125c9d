import { describe, expect, onTestFinished, test } from 'vitest'
import { createGateway, memoryAuditStore, type GatewayOptions } from '../../../src/index.ts'
import type { AuditEntry, AuditStore } from '../../../src/admin/audit/contract.ts'
import { demo } from '../../../src/providers/index.ts'
import { everyBundle } from '../../every-bundle.ts'
import { storeTimeouts } from '../../patience.ts'

function serving(audit: AuditStore = memoryAuditStore(), storage: GatewayOptions['storage'] = {}) {
  const gateway = createGateway({
    models: { demo: { provider: demo(), price: { input: '1', output: '1' } } },
    billing: { currency: 'EUR' },
    storage: { ...storage, audit },
    timeouts: storeTimeouts,
  })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  return gateway.admin
}

test('each change is written down: who, what, before and after, but no key', async () => {
  const admin = serving()
  const operator = admin.by({ name: 'eve@example.com', address: '192.0.2.7' })
  await operator.accounts.open({ id: 'acme', name: 'Acme' })
  await operator.accounts.topUp({ account: 'acme', amount: '50', reference: 'order-1' })
  await operator.accounts.topUp({ account: 'acme', amount: '50', reference: 'order-1' })
  const { key, record } = await operator.keys.create({ account: 'acme', group: 'default', name: 'one' })
  await operator.keys.update('acme', record.id, { name: 'two' })
  await admin.keys.revoke('acme', record.id)
  const { items } = await admin.auditLog.list()
  expect(items.map(({ number, action, actor, target }) => [number, action, actor, target])).toEqual([
    [5, 'keys.revoke', undefined, record.id],
    [4, 'keys.update', 'eve@example.com', record.id],
    [3, 'keys.create', 'eve@example.com', record.id],
    [2, 'accounts.topUp', 'eve@example.com', 'order-1'],
    [1, 'accounts.open', 'eve@example.com', undefined],
  ])
  expect(items[1]).toMatchObject({ address: '192.0.2.7', before: { name: 'one' }, after: { name: 'two' } })
  expect(items[3]).toMatchObject({ after: { amount: '50', balance: '50' } })
  expect(JSON.stringify(items)).not.toContain(key.slice(-20))
  expect(await admin.auditLog.verify()).toMatchObject({ isIntact: true, entries: 5 })
})

test('what opens an account with a key, and what deletes records, is written down, too', async () => {
  const admin = serving()
  await admin.keys.create({ account: 'acme', open: true, group: 'default' })
  await admin.usage.removeBefore(Date.UTC(2030, 0, 1))
  const { items } = await admin.auditLog.list()
  expect(items.map(({ action, account, after }) => ({ action, account, after }))).toMatchObject([
    { action: 'usage.removeBefore', account: undefined, after: { before: Date.UTC(2030, 0, 1), removed: 0 } },
    { action: 'keys.create', account: 'acme' },
    { action: 'accounts.open', account: 'acme', after: { id: 'acme', balance: '0' } },
  ])
})

test('an erased person stays as a pseudonym, and the log is still intact', async () => {
  const admin = serving()
  await admin.by({ name: 'acme' }).accounts.open({ id: 'acme', name: 'Jane Doe' })
  await admin.accounts.open({ id: 'other', name: 'Other' })
  const { usageAs = '' } = await admin.erase('acme')
  const { items } = await admin.auditLog.list()
  expect(JSON.stringify(items)).not.toMatch(/acme|Jane/)
  expect(items.map(({ action, account, erased }) => [action, account, erased])).toEqual([
    ['accounts.erase', usageAs, undefined],
    ['accounts.open', 'other', undefined],
    ['accounts.open', usageAs, true],
  ])
  expect(await admin.auditLog.verify()).toMatchObject({ isIntact: true, entries: 3 })
})

test('entries that are written at once by several processes make one chain', async () => {
  const store = memoryAuditStore()
  const processes = [serving(store), serving(store), serving(store)]
  await Promise.all(processes.flatMap((admin, at) => [0, 1, 2].map((n) => admin.accounts.open({ id: `a${at}${n}` }))))
  expect(await processes[0]?.auditLog.verify()).toMatchObject({ isIntact: true, entries: 9 })
})

test('each of 1,000 mutations of the stored entries is noticed', async () => {
  const entries: AuditEntry[] = []
  const store = { ...memoryAuditStore(), append: (entry: AuditEntry) => entries.push(entry) > 0 }
  let kept: readonly AuditEntry[] = entries
  const admin = serving({
    ...store,
    last: () => kept.at(-1),
    read: (after: number, limit: number) => kept.filter(({ number }) => number > after).slice(0, limit),
  })
  for (let n = 0; n < 20; n++) await admin.by({ name: 'eve' }).accounts.open({ id: `account${n}`, name: `name ${n}` })
  const { head, isIntact } = await admin.auditLog.verify()
  expect(isIntact).toBe(true)
  const fields = ['at', 'action', 'account', 'actor', 'content', 'digest', 'hash', 'removed', 'swapped', 'cut'] as const
  let missed = 0
  for (let n = 0; n < 1_000; n++) {
    const at = n % 19
    const field = fields[n % fields.length] as (typeof fields)[number]
    kept = mutated(entries, at, field, n)
    const result = await admin.auditLog.verify({ head })
    if (result.isIntact) missed++
  }
  expect(missed).toBe(0)
})

function mutated(entries: readonly AuditEntry[], at: number, field: string, n: number): readonly AuditEntry[] {
  const entry = entries[at] as AuditEntry
  if (field === 'removed') return entries.toSpliced(at, 1)
  if (field === 'swapped') return entries.with(at, entries[at + 1] as AuditEntry).with(at + 1, entry)
  if (field === 'cut') return entries.slice(0, at)
  const value = entry[field as keyof AuditEntry]
  if (typeof value === 'number') return entries.with(at, { ...entry, [field]: value + 1 + n })
  const place = n % String(value).length
  const text = String(value)
  const other = text[place] === 'a' ? 'b' : 'a'
  return entries.with(at, { ...entry, [field]: text.slice(0, place) + other + text.slice(place + 1) })
}

test('a change whose entry cannot be written is made, and its caller is told', async () => {
  const store = memoryAuditStore()
  const admin = serving({ ...store, append: () => Promise.reject(new Error('disk full')) })
  await expect(admin.accounts.open({ id: 'acme' })).rejects.toMatchObject({
    status: 503,
    message: 'The change was made, but it could not be written to the audit log.',
  })
  expect(await admin.accounts.find('acme')).toMatchObject({ id: 'acme' })
})

describe.each(everyBundle())('%s', (_, available, open) => {
  test.skipIf(!available)('keeps the log for another process', async () => {
    const [one, other] = [await open(), await open()]
    const make = (storage: GatewayOptions['storage']) => {
      const gateway = createGateway({ models: { demo: demo() }, ...(storage && { storage }) })
      return gateway.admin
    }
    const before = (await make(one).auditLog.verify()).entries
    const { record } = await make(one).by({ name: 'eve' }).keys.create({ account: 'acme', group: 'default' })
    const { items } = await make(other).auditLog.list({ actor: 'eve', account: 'acme', action: 'keys.create' })
    expect(items[0]).toMatchObject({ number: before + 1, target: record.id })
    expect(await make(other).auditLog.verify()).toMatchObject({ isIntact: true, entries: before + 1 })
  })
})

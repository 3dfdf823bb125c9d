/** Calls every method of every store of a bundle like a gateway, so that each of its statements is run. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { CapClaim, TaskRecord, UsageFilter } from '../../../../adapters/stores/index.ts'
import type { KeyRecord, StorageBundle } from '../../../../src/index.ts'
import { usageRecord } from '../../../observe/usage/record.ts'

export type Bundle = Required<StorageBundle>

/** Methods that need not be called: the time of all but the last grows with the number of rows that they read. */
const exempt = new Set(['audit', 'summarise', 'sumLines', 'all', 'close'])

const leaseMs = 60_000
const fresh = (kind: string) => `${kind} ${randomUUID()}`

/**
 * Wraps a bundle. `missed` returns the methods that were never called through it, so that a new method fails the tests until
 * it is called here.
 */
export function watched(bundle: Bundle): { bundle: Bundle; missed: () => string[] } {
  const called = new Set<string>()
  const stores = Object.entries(bundle).filter(([, store]) => typeof store === 'object')
  const proxies = stores.map(([name, store]) => {
    const get = (target: object, method: string) => {
      called.add(`${name}.${method}`)
      return Reflect.get(target, method) as unknown
    }
    return [name, new Proxy(store, { get: get as never })]
  })
  const missed = () =>
    stores.flatMap(([name, store]) =>
      Object.keys(store as object)
        .filter((method) => typeof Reflect.get(store as object, method) === 'function' && !exempt.has(method))
        .map((method) => `${name}.${method}`)
        .filter((method) => !called.has(method)),
    )
  return { bundle: { ...bundle, ...Object.fromEntries(proxies) } as Bundle, missed }
}

/** Uses every store for one account. */
export async function operate(bundle: Bundle, account: string): Promise<void> {
  await money(bundle, account)
  await caps(bundle, account)
  await keys(bundle, account)
  await tasks(bundle.tasks, account)
  await tasks(bundle.background, account)
  await tasks(bundle.batches, account)
  await tasks(bundle.fileBatches, account)
  await tasks(bundle.files, account)
  await answers(bundle, account)
  await changes(bundle, account)
  await ownKeys(bundle, account)
  await content(bundle, account)
  const { usage } = bundle
  const startedAt = Date.now()
  const records = ['a', 'b'].map((model) => usageRecord({ id: fresh('req'), account, model, key: 'key 7', startedAt }))
  await usage.append(records)
  await usage.appendRefused?.([usageRecord({ id: fresh('req'), account, outcome: 'refused', startedAt })])
  await usage.find?.(records[0]?.id ?? '')
  const { next } = await usage.list({ account, limit: 1 })
  await usage.list({
    account,
    key: 'key 7',
    model: 'a',
    from: startedAt - 1,
    to: startedAt + 1,
    limit: 5,
    after: next as string,
  })
  await usage.list({ limit: 5 })
  const of = { account, user: 'user 7', tag: 'tag 7' }
  await usage.list({ ...of, limit: 5 })
  await usage.list({ ...of, outcome: 'failed', limit: 5 })
  await usage.list({ account, session: 'session 7', limit: 5 })
  await usage.list({ outcome: 'cancelled', limit: 5 })
  for (const filter of filters(account)) await usage.list({ ...filter, limit: 5 })
  const ranges = { starts: [startedAt - 60_000, startedAt], to: startedAt + 1, most: 5 }
  for (const filter of [
    {},
    { account },
    { model: 'a' },
    { user: 'user 7', key: 'key 7' },
    { account, session: 'session 7' },
  ])
    await usage.durations?.({ ...filter, ...ranges })
  await usage.removeBefore?.(1_000, 5)
  await usage.removeBefore?.(1_000, 5, 'refused')
  await usage.anonymise?.({ account: fresh('account'), as: 'nobody' })
  await usage.admitUsers?.([{ account, user: 'user 7' }], 1_000)
}

/** Filters of requests: each field alone, and each two together. */
function filters(account: string): UsageFilter[] {
  const fields: readonly UsageFilter[] = [
    { account },
    { key: 'key 7' },
    { model: 'a' },
    { user: 'user 7' },
    { session: 'session 7' },
    { code: 'server_error' },
    { outcome: 'completed' },
    { outcome: 'refused' },
    { from: 1.7e12, to: 1.7e12 + 60_000 },
  ]
  return fields.flatMap((one, index) => fields.slice(index).map((other) => ({ ...one, ...other })))
}

async function money({ admission, ledger, limits }: Bundle, account: string): Promise<void> {
  const claimOf = () => {
    const rates = [{ bucket: `rate ${account}`, cost: 0.001, limit: 1_000, periodMs: 1_000, burst: 1_000 }]
    return { id: fresh('call'), rates, places: [{ bucket: `places ${account}`, places: 1_000 }], leaseMs }
  }
  const credit = { account, amount: 1_000_000n, reference: fresh('payment') }
  await ledger.credit(credit)
  await ledger.credit(credit)
  await ledger.open({ id: account, name: 'n' })
  await ledger.account(account)
  await ledger.accounts?.({ limit: 3, after: account })
  await ledger.compact?.(account, 1_000, 5)
  const { next } = (await ledger.entries?.(account, { limit: 1 })) ?? {}
  await ledger.entries?.(account, { limit: 2, ...(next !== undefined && { after: next }) })
  await ledger.entriesAfter?.(account, 1, 2)
  for (const amount of [5n, undefined]) {
    const claim = claimOf()
    const hold = { id: claim.id, account, amount: 10n, leaseMs }
    await admission.admit(claim, hold)
    await admission.admit(claim, hold)
    await ledger.renew([hold, { id: fresh('none'), account }], leaseMs)
    await limits.renew([{ id: claim.id, places: [`places ${account}`] }], leaseMs)
    const returned = { id: claim.id, places: [`places ${account}`], corrections: claim.rates }
    await admission.finish([{ returned, end: { id: claim.id, account, ...(amount !== undefined && { amount }) } }])
  }
  const claim = claimOf()
  await limits.take(claim)
  await limits.give({ id: claim.id, places: [`places ${account}`], corrections: claim.rates })
  const hold = { id: fresh('hold'), account, amount: 10n, leaseMs }
  await ledger.hold(hold)
  // More than the balance, so that expired holds are looked for first.
  await ledger.hold({ ...hold, id: fresh('hold'), amount: 9_000_000_000_000n })
  await ledger.settle(hold)
  await ledger.settle(hold)
  await ledger.release({ id: fresh('hold'), account })
}

/** A capped hold whose settlement records notices, and its refund. */
async function caps({ ledger, admission }: Bundle, account: string): Promise<void> {
  const { caps: store } = ledger
  if (store === undefined) return
  const cap: CapClaim = {
    name: `cap ${account}`,
    window: 'w',
    periods: { boundaries: [0, 8e15] },
    limits: { calls: 99n },
  }
  await store.override({ name: cap.name, limits: { money: null } })
  await store.override({ name: cap.name, limits: { calls: 50n }, until: Date.now() + leaseMs })
  await store.overrides(cap.name)
  await store.override({ name: cap.name, limits: {} })
  const hold = { id: fresh('hold'), account, amount: 1n, leaseMs, caps: [cap] }
  const { caps: states = [] } = await ledger.hold(hold)
  await ledger.hold(hold)
  await ledger.renew([hold], leaseMs / 2)
  const mark = { id: fresh('mark'), at: 1n, notice: '{}' }
  const charges = states.map((state) => ({ ...state, thresholds: [{ ...mark, measure: 'calls' as const }] }))
  const balanceThresholds = [{ ...mark, id: fresh('mark'), at: 10n ** 15n }]
  await admission.finish([{ end: { id: hold.id, account, amount: 1n, caps: charges, balanceThresholds } }])
  await ledger.credit({ account, amount: 1n, reference: fresh('refund'), refunds: hold.id })
  const short = { ...hold, id: fresh('hold'), leaseMs: 1 }
  await ledger.hold(short)
  await setTimeout(5)
  await store.read([cap])
  for (const { id } of await store.claimNotices(10, leaseMs)) await store.endNotice(id)
}

async function keys({ keys: store }: Bundle, account: string): Promise<void> {
  const hash = randomUUID().padEnd(64, '0')
  const record: KeyRecord = { id: fresh('key'), hash, prefix: 'sk', account, group: 'g', createdAt: 1, version: 1 }
  await store.insert?.(record)
  await store.find(hash)
  await store.update?.({ ...record, version: 2 })
  await store.list?.(account)
  await store.search?.({ account, state: 'active', now: Date.now(), limit: 5 })
  await store.search?.({ now: Date.now(), limit: 5 })
  await store.search?.({ now: Date.now(), limit: 5, after: JSON.stringify([50, 'key 50']) })
}

async function tasks(store: Bundle['tasks'], account: string): Promise<void> {
  const now = Date.now()
  const times = { createdAt: now, expiresAt: now + leaseMs, dueAt: now, leasedUntil: 0 }
  const task: TaskRecord = { account, id: randomUUID(), version: 1, ...times, data: {} }
  await store.insert(task)
  await store.insert(task)
  await store.find(account, task.id, now)
  await store.replace({ ...task, version: 2 })
  await store.countDue?.(now, 20)
  await store.claim({ now, leaseMs, limit: 20 })
  for (const order of ['asc', 'desc'] as const) {
    await store.list?.(account, { now, limit: 3, order })
    await store.list?.(account, { now, limit: 3, order, after: task.id })
  }
  await store.search?.({ now, limit: 3 })
  await store.search?.({ now, limit: 3, after: { account, id: task.id, createdAt: now } })
  await store.now?.()
}

async function changes({ audit, registry }: Bundle, account: string): Promise<void> {
  const before = await audit.last()
  const number = (before?.number ?? 0) + 1
  await audit.append({ number, at: 1, action: 'a', account, actor: account, content: '{}', digest: 'd', hash: 'h' })
  await audit.list({ account, limit: 3 })
  await audit.list({ actor: account, limit: 3, after: String(number) })
  await audit.list({ limit: 3 })
  await audit.read(number - 1, 3)
  await audit.erase(account, 'nobody')
  const entry = { kind: 'model', id: fresh('model'), version: 1, value: {} } as const
  await registry.put(entry)
  await registry.put({ ...entry, version: 2 })
  registry.watch?.(() => undefined)()
}

async function ownKeys({ vendorKeys }: Bundle, account: string): Promise<void> {
  const record = { account, provider: 'openai', sealed: 's', hint: '', createdAt: 1 }
  await vendorKeys.put(record)
  await vendorKeys.put(record)
  await vendorKeys.reseal({ ...record, sealed: 't' }, 's')
  await vendorKeys.list(account)
  await vendorKeys.page(undefined, 3)
  await vendorKeys.page(record, 3)
  await vendorKeys.revision()
  await vendorKeys.delete(record)
  await vendorKeys.deleteAll(account)
}

async function content({ content: store, contentKeys }: Bundle, account: string): Promise<void> {
  const [user, day] = ['user 7', '2030-01-15']
  const record = { id: fresh('req'), account, user, day, key: fresh('key'), session: 's', at: 1, body: Buffer.of(1) }
  await store.append([record, { ...record, id: fresh('req') }])
  await store.get(record.id)
  const { next } = await store.list({ account, limit: 1 })
  await store.list({ account, limit: 3, ...(next !== undefined && { after: next }) })
  const thread = await store.list({ account, session: 's', limit: 1 })
  await store.list({ account, session: 's', limit: 3, ...(thread.next !== undefined && { after: thread.next }) })
  await store.erase(account, user)
  await store.erase(account)
  await store.removeBefore('2029-01-01', 3)
  const key = { id: fresh('key'), account, user, day, sealed: 's' }
  await contentKeys.claim([key, { ...key, id: fresh('key') }])
  await contentKeys.find([key.id])
  await contentKeys.page(undefined, 3)
  await contentKeys.page(key.id, 3)
  await contentKeys.reseal({ ...key, sealed: 't' }, 's')
  await contentKeys.erase(account, user)
  await contentKeys.erase(account)
  await contentKeys.removeBefore('2029-01-01', 3)
}

async function answers({ idempotency, responses }: Bundle, account: string): Promise<void> {
  const place = { account, route: 'r', key: fresh('k'), attempt: fresh('a'), digest: 'd', leaseMs }
  await idempotency.begin(place)
  await idempotency.begin({ ...place, attempt: 'other' })
  await idempotency.finish({ ...place, keepMs: leaseMs, answer: { status: 200, headers: {}, body: Buffer.from('{}') } })
  const second = { ...place, key: fresh('k') }
  await idempotency.begin(second)
  await idempotency.forget(second)
  const record = { account, id: fresh('resp'), items: [fresh('item'), fresh('item')], body: '{}' }
  await responses.put(record)
  await responses.put(record)
  await responses.get(account, record.id)
  for (const version of [1, 2]) await responses.replace({ ...record, id: `${record.id} c`, items: [], version })
  await responses.holding(account, record.items[0] as string)
  await responses.delete(account, record.id)
  await responses.deleteAll?.(account)
  await idempotency.deleteAll?.(account)
}

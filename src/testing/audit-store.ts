import assert from 'node:assert/strict'
import { linked } from '../admin/audit/chain.ts'
import type { AuditEntry, AuditStore } from '../admin/audit/contract.ts'
import { fresh, oddNames, race, suiteOf, untilDone, type StoreKitOptions, type TestFunction } from './kit.ts'

/**
 * Registers one test for each requirement of the `AuditStore` contract.
 *
 * @param factory Opens the store of one test. It need not be empty, but nothing else may append to it meanwhile.
 * @example
 * ```ts
 * testAuditStore(test, () => myStore())
 * ```
 */
export function testAuditStore(
  test: TestFunction,
  factory: () => Promise<AuditStore> | AuditStore,
  options: StoreKitOptions<AuditStore> = {},
): void {
  const { it } = suiteOf('audit store', test, factory, options)

  it('an entry is the last one, and found unchanged, through every handle', async (store, other) => {
    for (const name of [...oddNames, 'x'.repeat(50_000)]) {
      const entry = await nextOf(store, { content: JSON.stringify({ name }) })
      assert.equal(await store.append(entry), true)
      assert.deepEqual(await other.last(), entry)
      assert.deepEqual(await other.read(entry.number - 1, 10), [entry])
    }
  })

  it('an entry without account and actor comes back without them', async (store, other) => {
    const before = await store.last()
    const entry = linked(before, { number: (before?.number ?? 0) + 1, at: 1, action: 'a', content: '{}' })
    await store.append(entry)
    assert.deepEqual(await other.last(), entry)
  })

  it('a number is accepted once', async (store) => {
    const entry = await nextOf(store)
    assert.equal(await store.append(entry), true)
    assert.equal(await store.append(entry), false)
    assert.deepEqual(await store.last(), entry)
  })

  it('exactly one of many concurrent entries with the same number is accepted', async (store, other) => {
    for (let round = 0; round < 5; round++) {
      const { number } = await nextOf(store)
      const entries = Array.from({ length: 10 }, (_, at) => ({ ...entryOf(number), at }))
      const accepted = await race(10, [store, other], (handle, index) => handle.append(entries[index] as AuditEntry))
      assert.equal(accepted.filter(Boolean).length, 1)
      assert.equal((await other.last())?.at, accepted.indexOf(true))
    }
  })

  it('lists what matches, newest first, page by page', async (store, other) => {
    const account = fresh('account')
    const kept: AuditEntry[] = []
    for (let index = 0; index < 7; index++) {
      const actor = index % 2 === 0 ? `${account} even` : `${account} odd`
      const entry = await nextOf(store, { account, actor, action: index < 3 ? 'first' : 'then', at: 1_000 + index })
      await store.append(entry)
      kept.unshift(entry)
    }
    assert.deepEqual(await other.list({ account }), { items: kept })
    const page = await other.list({ account, limit: 3 })
    assert.deepEqual(page.items, kept.slice(0, 3))
    const rest = await other.list({ account, limit: 10, after: page.next ?? '' })
    assert.deepEqual(rest, { items: kept.slice(3) })
    assert.equal((await other.list({ actor: `${account} even` })).items.length, 4)
    assert.equal((await other.list({ account, action: 'first' })).items.length, 3)
    const times = (await other.list({ account, from: 1_001, to: 1_003 })).items.map(({ at }) => at)
    assert.deepEqual(times, [1_002, 1_001])
  })

  it('reads in ascending order, from any number on', async (store, other) => {
    const start = (await store.last())?.number ?? 0
    for (let index = 0; index < 5; index++) await store.append(await nextOf(store))
    const numbers = async (after: number, limit: number) => (await other.read(after, limit)).map(({ number }) => number)
    assert.deepEqual(await numbers(start, 3), [start + 1, start + 2, start + 3])
    assert.deepEqual(await numbers(start + 3, 10), [start + 4, start + 5])
  })

  it('erase empties what concerns an account or was made by it, and leaves everything else', async (store, other) => {
    const [account, stranger] = [fresh('account'), fresh('account')]
    const own = await nextOf(store, { account, actor: 'operator' })
    await store.append(own)
    const made = await nextOf(store, { account: stranger, actor: account })
    await store.append(made)
    const foreign = await nextOf(store, { account: stranger, actor: 'operator' })
    await store.append(foreign)
    await untilDone(() => store.erase(account, 'nobody'))
    assert.deepEqual(await other.read(own.number - 1, 3), [
      { ...own, account: 'nobody', content: '' },
      { ...made, actor: 'nobody', content: '' },
      foreign,
    ])
  })
}

async function nextOf(store: AuditStore, fields: Partial<AuditEntry> = {}): Promise<AuditEntry> {
  return { ...entryOf(((await store.last())?.number ?? 0) + 1), ...fields }
}

function entryOf(number: number): AuditEntry {
  const [digest, hash] = ['a'.repeat(64), 'b'.repeat(64)]
  return {
    number,
    at: 1_900_000_000_000,
    action: 'keys.update',
    account: 'acme',
    actor: 'operator',
    content: '{}',
    digest,
    hash,
  }
}

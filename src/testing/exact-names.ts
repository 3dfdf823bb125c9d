/**
 * Tests that a store compares names byte for byte. Many databases by default ignore case, accents or trailing spaces.
 * One test for each kind of store; the one for tasks is in `task-store.ts`.
 */
import assert from 'node:assert/strict'
import type { KeyRecord, KeyStore } from '../callers/contract.ts'
import type { Ledger } from '../money/ledger/contract.ts'
import type { IdempotencyStart, IdempotencyStore } from '../admission/idempotency/contract.ts'
import type { LimitStore } from '../money/limits/contract.ts'
import type { ResponseStore } from '../responses/contract.ts'
import type { UsageStore } from '../observe/usage/contract.ts'
import { fresh, similarNames, type Suite } from './kit.ts'
import { record as usageRecord } from './usage-sums.ts'

const exactly = 'compares names byte for byte: case, accents and spaces count'
const leaseMs = 600_000
const shown = JSON.stringify

/** The look-alikes made of visible ASCII characters, for names that contracts restrict to these. */
function visible(name: string): readonly string[] {
  return similarNames(name).filter((each) => /^[!-~]+$/.test(each))
}

export function testKeyNames(it: Suite<KeyStore>['it'], record: (changes: Partial<KeyRecord>) => KeyRecord): void {
  it(exactly, async (store) => {
    const mine = record({ account: fresh('account'), id: fresh('key').replace(' ', '_'), version: 1 })
    await store.insert?.(mine)
    for (const hash of similarNames(mine.hash)) assert.equal(await store.find(hash), undefined, shown(hash))
    for (const account of similarNames(mine.account)) {
      assert.deepEqual((await store.list?.(account)) ?? [], [], shown(account))
    }
    for (const id of visible(mine.id)) {
      assert.equal((await store.update?.({ ...mine, id, version: 2 })) ?? false, false, shown(id))
      assert.equal((await store.insert?.(record({ id }))) ?? true, true, shown(id))
    }
    assert.deepEqual(await store.find(mine.hash), mine)
  })
}

export function testBucketNames(it: Suite<LimitStore>['it']): void {
  it(exactly, async (store) => {
    const [bucket, places, id] = [fresh('bucket'), fresh('places'), fresh('call')]
    const take = (bucket: string, places: string, id: string) => {
      const rates = [{ bucket, cost: 1, limit: 1, periodMs: 3_600_000, burst: 1 }]
      return store.take({ id, rates, places: [{ bucket: places, places: 1 }], leaseMs })
    }
    assert.equal((await take(bucket, places, id)).admitted, true)
    for (const other of similarNames(bucket)) {
      assert.equal((await take(other, fresh('places'), fresh('call'))).admitted, true, shown(other))
    }
    for (const other of similarNames(places)) {
      assert.equal((await take(fresh('bucket'), other, fresh('call'))).admitted, true, shown(other))
    }
    for (const other of similarNames(id)) {
      assert.equal((await take(fresh('bucket'), places, other)).admitted, false, shown(other))
      await store.give({ id: other, places: [places], corrections: [] })
    }
    assert.equal(
      (await take(fresh('bucket'), places, fresh('call'))).admitted,
      false,
      'a claim with another id freed the slot',
    )
  })
}

export function testLedgerNames(it: Suite<Ledger>['it']): void {
  it(exactly, async (ledger) => {
    const [account, id, reference] = [fresh('account'), fresh('hold a'), fresh('reference')]
    await ledger.credit({ account, amount: 1_000n, reference })
    assert.equal((await ledger.hold({ id, account, amount: 10n, leaseMs })).outcome, 'held')
    for (const other of similarNames(account)) {
      assert.equal(await ledger.account(other), undefined, shown(other))
      const verdict = await ledger.hold({ id: fresh('hold'), account: other, amount: 1n, leaseMs })
      assert.equal(verdict.outcome, 'insufficient', shown(other))
      assert.deepEqual((await ledger.entries?.(other, {}))?.items ?? [], [], shown(other))
    }
    for (const other of similarNames(reference)) {
      const { outcome } = await ledger.credit({ account, amount: 1n, reference: other })
      assert.equal(outcome, 'credited', shown(other))
    }
    const credits = 1_000n + BigInt(similarNames(reference).length)
    for (const other of similarNames(id)) {
      await ledger.release({ id: other, account })
      assert.equal((await ledger.account(account))?.held, 10n, shown(other))
    }
    assert.deepEqual(await ledger.settle({ id, account, amount: 4n }), { outcome: 'settled', charged: 4n, overage: 0n })
    const { balance, held } = (await ledger.account(account)) ?? {}
    assert.deepEqual([balance, held], [credits - 4n, 0n])
  })
}

export function testUsageNames(it: Suite<UsageStore>['it']): void {
  it(exactly, async (store) => {
    const [account, key, model] = [fresh('account'), fresh('key a'), fresh('model a')]
    const mine = usageRecord({ id: fresh('call'), account, key, model })
    await store.append([mine])
    for (const other of similarNames(account)) assert.deepEqual((await store.list({ account: other })).items, [], other)
    for (const other of similarNames(key))
      assert.deepEqual((await store.list({ account, key: other })).items, [], other)
    for (const other of similarNames(model)) {
      assert.deepEqual((await store.list({ account, model: other })).items, [], shown(other))
      assert.deepEqual(await store.summarise({ account, model: other, by: [] }), [], shown(other))
    }
    for (const other of similarNames(mine.id)) assert.equal(await store.find?.(other), undefined, shown(other))
    const others = similarNames(mine.id).map((id) => usageRecord({ id, account, key, model }))
    await store.append(others)
    assert.equal((await store.list({ account })).items.length, others.length + 1)
    const models = similarNames(model)
    await store.append(models.map((each) => usageRecord({ account, key, model: each })))
    assert.equal((await store.summarise({ account, by: ['model'] })).length, models.length + 1)
  })
}

export function testAttemptNames(
  it: Suite<IdempotencyStore>['it'],
  start: (changes: Partial<IdempotencyStart>) => IdempotencyStart,
): void {
  it(exactly, async (store) => {
    const mine = start({ key: 'key-a', route: 'chat.completions' })
    assert.equal((await store.begin(mine)).outcome, 'begun')
    for (const attempt of similarNames(mine.attempt)) {
      await store.forget({ ...mine, attempt })
      assert.equal((await store.begin({ ...mine, attempt })).outcome, 'running', shown(attempt))
    }
    const others = [
      ...similarNames(mine.account).map((account) => ({ account })),
      ...similarNames(mine.route).map((route) => ({ route })),
      ...visible(mine.key).map((key) => ({ key })),
    ]
    for (const other of others) {
      assert.equal((await store.begin({ ...mine, attempt: fresh('req'), ...other })).outcome, 'begun', shown(other))
    }
  })
}

export function testResponseNames(it: Suite<ResponseStore>['it']): void {
  it(exactly, async (store) => {
    const account = fresh('account')
    const mine = { account, id: 'resp_a', items: ['msg_a'], body: '{"of":"mine"}' }
    await store.put(mine)
    for (const other of similarNames(account)) {
      assert.equal(await store.get(other, mine.id), undefined, shown(other))
      assert.equal(await store.holding(other, 'msg_a'), undefined, shown(other))
      assert.equal(await store.delete(other, mine.id), false, shown(other))
    }
    for (const id of visible(mine.id)) {
      assert.equal(await store.get(account, id), undefined, shown(id))
      assert.equal(await store.delete(account, id), false, shown(id))
      await store.put({ account, id, items: [], body: '{"of":"another"}' })
    }
    for (const item of visible('msg_a')) assert.equal(await store.holding(account, item), undefined, shown(item))
    assert.deepEqual(await store.get(account, mine.id), mine)
  })
}

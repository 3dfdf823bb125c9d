import assert from 'node:assert/strict'
import type { UsageStore } from '../observe/usage/contract.ts'
import { allPages, fresh, oddNames, race, suiteOf, type StoreKitOptions, type TestFunction } from './kit.ts'
import { testUsageNames } from './exact-names.ts'
import { testAttribution } from './usage-attribution.ts'
import { testDurations } from './usage-durations.ts'
import { testLargest } from './usage-largest.ts'
import { testLog } from './usage-log.ts'
import { testRandomSums } from './usage-random.ts'
import { testRetention } from './usage-retention.ts'
import { record, start, testSums } from './usage-sums.ts'

/**
 * Registers one test for each requirement of the `UsageStore` contract.
 *
 * @param factory Opens the store of one test. It need not be empty: every test uses accounts and models of its own.
 * @example
 * ```ts
 * testUsageStore(test, () => myStore())
 * ```
 */
export function testUsageStore(
  test: TestFunction,
  factory: () => Promise<UsageStore> | UsageStore,
  options: StoreKitOptions<UsageStore> = {},
): void {
  const { it } = suiteOf('usage store', test, factory, options)

  it('lists a record as it was appended', async (store, other) => {
    const account = fresh('account')
    const full = record({
      account,
      key: 'key_1',
      provider: 'openai',
      providerModel: 'gpt-5',
      outcome: 'failed',
      code: 'service_unavailable',
      stream: true,
      images: 2,
      seconds: 1.5,
      cost: 9_007_199_254_740_991n,
      overage: 7n,
      basis: 'delivered',
      vendorCost: 9_007_199_254_740_991n,
      firstByteMs: 3.5,
      totalMs: 12.25,
    })
    await store.append([full])
    assert.deepEqual(await other.list({ account }), { items: [full] })
  })

  it('finds a record by its id', async (store, other) => {
    if (store.find === undefined) return
    const wanted = record({ account: fresh('account') })
    await store.append([wanted, record({ account: wanted.account })])
    assert.deepEqual(await other.find?.(wanted.id), wanted)
    assert.equal(await other.find?.(fresh('req')), undefined)
  })

  it('omits fields that the record does not have', async (store) => {
    const account = fresh('account')
    const plain = record({ account })
    await store.append([plain])
    assert.deepEqual((await store.list({ account })).items, [plain])
  })

  it('returns nothing for an account without records', async (store) => {
    const account = fresh('account')
    assert.deepEqual(await store.list({ account }), { items: [] })
    assert.deepEqual(await store.summarise({ account, by: [] }), [])
    await store.append([])
  })

  it('keeps the first record of an id when it is appended again', async (store, other) => {
    const account = fresh('account')
    const first = record({ account })
    await store.append([first, { ...first, cost: 99n }])
    await race(10, [store, other], async (each) =>
      each.append([{ ...first, cost: 98n }, record({ account, id: `${first.id} 2` })]),
    )
    const { items } = await store.list({ account })
    assert.deepEqual(
      items.map(({ cost }) => cost),
      [30n, 30n],
    )
    assert.equal((await other.summarise({ account, by: [] }))[0]?.requests, 2)
  })

  it('lists the newest first, and records of the same time by descending id', async (store) => {
    const account = fresh('account')
    const records = [3, 1, 2, 2, 2].map((time, index) =>
      record({ account, startedAt: start + time, id: `r${index} ${account}` }),
    )
    await store.append(records)
    const { items } = await store.list({ account })
    assert.deepEqual(
      items.map(({ id }) => id.slice(0, 2)),
      ['r0', 'r4', 'r3', 'r2', 'r1'],
    )
  })

  it('lists only records that match the filter', async (store) => {
    const account = fresh('account')
    const key = fresh('key')
    const model = fresh('model')
    const wanted = record({ account, key, model })
    await store.append([
      wanted,
      record({ account: fresh('account'), key, model }),
      record({ account, key: fresh('key'), model }),
      record({ account, model }),
      record({ account, key, model: fresh('model') }),
      record({ account, key, model, startedAt: start - 1 }),
      record({ account, key, model, startedAt: start + 1 }),
    ])
    const filter = { account, key, model, from: start, to: start + 1 }
    assert.deepEqual((await store.list(filter)).items, [wanted])
    assert.equal((await store.list({ key, model })).items.length, 4)
    assert.equal((await store.list({ account, model })).items.length, 5)
    assert.equal((await store.summarise({ ...filter, by: [] }))[0]?.requests, 1)
  })

  it('pages neither repeat nor omit a record while others are appended', async (store, other) => {
    const account = fresh('account')
    const records = Array.from({ length: 25 }, (_, index) => record({ account, startedAt: start + (index >> 3) }))
    await store.append(records)
    const add = () => other.append([record({ account, startedAt: start + 100 })])
    const seen = await allPages(4, (page) => store.list({ account, ...page }), add)
    assert.deepEqual(seen.map(({ id }) => id).sort(), records.map(({ id }) => id).sort())
  })

  testSums(it)
  testRandomSums(it)
  testAttribution(it)
  testRetention(it)
  testDurations(it)
  testLargest(it)
  testLog(it)
  testUsageNames(it)

  it('similar names are separate, and sums are ordered by code point', async (store) => {
    const unique = fresh('x')
    await store.append(oddNames.map((odd) => record({ account: unique, model: odd, key: odd, id: `${odd} ${unique}` })))
    for (const odd of oddNames) {
      const { items } = await store.list({ account: unique, model: odd })
      assert.deepEqual((await store.list({ account: unique, key: odd })).items, items)
      assert.deepEqual(
        items.map(({ id }) => id),
        [`${odd} ${unique}`],
      )
    }
    const rows = await store.summarise({ account: unique, by: ['model'] })
    assert.deepEqual(
      rows.map(({ model }) => model),
      [...oddNames].sort((left, right) => (left < right ? -1 : 1)),
    )
  })

  it('is not affected by later changes to records passed in or returned', async (store) => {
    const account = fresh('account')
    const mine = record({ account })
    await store.append([mine])
    Object.assign(mine, { cost: 1n })
    const [given] = (await store.list({ account })).items
    Object.assign(given ?? {}, { cost: 2n })
    assert.equal((await store.list({ account })).items[0]?.cost, 30n)
  })
}

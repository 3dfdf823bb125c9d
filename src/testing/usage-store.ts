/**
 * The usage store contract as a suite: `testUsageStore(test, () => myStore())`. Runs in any runner and needs nothing but
 * node:assert.
 */
import assert from 'node:assert/strict'
import type { UsageRecord, UsageStore } from '../usage/contract.ts'
import { fresh, oddNames, race, suiteOf, type StoreKitOptions } from './kit.ts'
import type { TestFunction } from './runner.ts'

const minute = 60_000
const day = 24 * 60 * minute
/** A midnight of UTC. */
const start = Date.UTC(2031, 0, 10)

function record(changes: Partial<UsageRecord> = {}): UsageRecord {
  return {
    id: fresh('req'),
    account: 'account',
    group: 'default',
    endpoint: 'chat.completions',
    model: 'model',
    outcome: 'completed',
    stream: false,
    promptTokens: 10,
    cachedTokens: 4,
    completionTokens: 20,
    reasoningTokens: 5,
    images: 0,
    seconds: 0,
    cost: 30n,
    overage: 0n,
    basis: 'reported',
    startedAt: start,
    totalMs: 12,
    ...changes,
  }
}

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
      firstByteMs: 3.5,
      totalMs: 12.25,
    })
    await store.append([full])
    assert.deepEqual(await other.list({ account }), { items: [full] })
  })

  it('leaves out what a record does not say', async (store) => {
    const account = fresh('account')
    const plain = record({ account })
    await store.append([plain])
    assert.deepEqual((await store.list({ account })).items, [plain])
  })

  it('has nothing where nothing was appended', async (store) => {
    const account = fresh('account')
    assert.deepEqual(await store.list({ account }), { items: [] })
    assert.deepEqual(await store.summarise({ account, by: [] }), [])
    await store.append([])
  })

  it('keeps the first record of an id, however often it is appended', async (store, other) => {
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

  it('lists the newest first, of equal times the greater id', async (store) => {
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

  it('lists only what was asked for', async (store) => {
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

  it('gives pages that neither repeat nor leave out a record, also while others are appended', async (store, other) => {
    const account = fresh('account')
    const records = Array.from({ length: 25 }, (_, index) => record({ account, startedAt: start + (index >> 3) }))
    await store.append(records)
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await store.list({ account, limit: 4, ...(after !== undefined && { after }) })
      assert.ok(page.items.length <= 4, 'a page is longer than asked for')
      seen.push(...page.items.map(({ id }) => id))
      await other.append([record({ account, startedAt: start + 100 })])
      after = page.next
    } while (after !== undefined)
    assert.deepEqual([...seen].sort(), records.map(({ id }) => id).sort())
  })

  it('sums up everything, to the last digit', async (store) => {
    const account = fresh('account')
    const large = 9_007_199_254_740_991n
    await store.append([
      record({ account, cost: large, images: 1, seconds: 0.5 }),
      record({ account, cost: large, images: 2, seconds: 0.25, outcome: 'cancelled' }),
      record({ account, cost: 3n, outcome: 'failed' }),
    ])
    assert.deepEqual(await store.summarise({ account, by: [] }), [
      {
        requests: 3,
        incomplete: 2,
        promptTokens: 30,
        cachedTokens: 12,
        completionTokens: 60,
        reasoningTokens: 15,
        images: 3,
        seconds: 0.75,
        cost: large * 2n + 3n,
      },
    ])
  })

  it('sums up by any combination of dimensions, in their order', async (store) => {
    const account = fresh('account')
    await store.append([
      record({ account, model: 'b', key: 'k1', startedAt: start + day }),
      record({ account, model: 'a', key: 'k2' }),
      record({ account, model: 'a' }),
      record({ account, model: 'b', endpoint: 'embeddings', group: 'vip' }),
    ])
    const by = async (...dimensions: Parameters<UsageStore['summarise']>[0]['by'][number][]) =>
      (await store.summarise({ account, by: dimensions })).map((row) => [
        ...dimensions.map((each) => row[each]),
        row.requests,
      ])
    assert.deepEqual(await by('model'), [
      ['a', 2],
      ['b', 2],
    ])
    assert.deepEqual(await by('key'), [
      ['', 2],
      ['k1', 1],
      ['k2', 1],
    ])
    assert.deepEqual(await by('day', 'model'), [
      ['2031-01-10', 'a', 2],
      ['2031-01-10', 'b', 1],
      ['2031-01-11', 'b', 1],
    ])
    assert.deepEqual(await by('model', 'day'), [
      ['a', '2031-01-10', 2],
      ['b', '2031-01-10', 1],
      ['b', '2031-01-11', 1],
    ])
    assert.deepEqual(await by('endpoint'), [
      ['chat.completions', 3],
      ['embeddings', 1],
    ])
    assert.deepEqual(await by('group'), [
      ['default', 3],
      ['vip', 1],
    ])
    assert.deepEqual(await by('account'), [[account, 4]])
    assert.deepEqual(Object.keys((await store.summarise({ account, by: ['model'] }))[0] ?? {}).includes('day'), false)
  })

  it('begins days where it is told', async (store) => {
    const account = fresh('account')
    await store.append([
      record({ account, startedAt: start - 8 * 60 * minute - 1 }),
      record({ account, startedAt: start - 8 * 60 * minute }),
      record({ account, startedAt: start - 1 }),
      record({ account, startedAt: start }),
    ])
    const days = async (offsetMinutes?: number) =>
      (await store.summarise({ account, by: ['day'], ...(offsetMinutes !== undefined && { offsetMinutes }) })).map(
        (row) => [row.day, row.requests],
      )
    assert.deepEqual(await days(), [
      ['2031-01-09', 3],
      ['2031-01-10', 1],
    ])
    assert.deepEqual(await days(480), [
      ['2031-01-09', 1],
      ['2031-01-10', 3],
    ])
    assert.deepEqual(await days(-1), [['2031-01-09', 4]])
  })

  it('keeps names apart that look alike, and orders them by code point', async (store) => {
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

  it('is not changed by what is done to records it took or gave', async (store) => {
    const account = fresh('account')
    const mine = record({ account })
    await store.append([mine])
    Object.assign(mine, { cost: 1n })
    const [given] = (await store.list({ account })).items
    Object.assign(given ?? {}, { cost: 2n })
    assert.equal((await store.list({ account })).items[0]?.cost, 30n)
  })
}

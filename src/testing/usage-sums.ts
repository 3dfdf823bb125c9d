/** The tests of the usage store contract for `summarise`. */
import assert from 'node:assert/strict'
import type { UsageRecord, UsageStore } from '../observe/usage/contract.ts'
import { eachUnit } from '../observe/usage/units.ts'
import { fresh, type Suite } from './kit.ts'

const nothing = eachUnit(() => 0)

const minute = 60_000
const day = 24 * 60 * minute
/** A midnight in UTC. */
export const start: number = Date.UTC(2031, 0, 10)

/** The usage record of a completed request. */
export function record(changes: Partial<UsageRecord> = {}): UsageRecord {
  return {
    id: fresh('req'),
    account: 'account',
    group: 'default',
    endpoint: 'chat.completions',
    model: 'model',
    outcome: 'completed',
    stream: false,
    ...nothing,
    promptTokens: 10,
    cachedTokens: 4,
    completionTokens: 20,
    reasoningTokens: 5,
    cost: 30n,
    overage: 0n,
    basis: 'reported',
    startedAt: start,
    totalMs: 12,
    ...changes,
  }
}

export function testSums(it: Suite<UsageStore>['it']): void {
  it('sums are exact to the last digit', async (store) => {
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
        ...nothing,
        promptTokens: 30,
        cachedTokens: 12,
        completionTokens: 60,
        reasoningTokens: 15,
        images: 3,
        seconds: 0.75,
        cost: large * 2n + 3n,
        vendorCost: 0n,
        uncosted: 3,
      },
    ])
  })

  it('sums what requests cost the host, exactly, and counts those of which it is not known', async (store, other) => {
    const account = fresh('account')
    const model = fresh('model')
    const large = 9_007_199_254_740_991n
    const later = start + 91 * minute + 1
    await store.append([
      record({ account, model, provider: 'a', providerModel: 'x', vendorCost: large }),
      record({ account, model, provider: 'a', providerModel: 'x', vendorCost: large, startedAt: later }),
      record({ account, model, provider: 'a', providerModel: 'y', vendorCost: 0n, key: 'k', tags: ['t', 'u'] }),
      record({ account, model, provider: 'b', providerModel: 'x' }),
      record({ account: fresh('account'), model, provider: 'b', providerModel: 'x', vendorCost: 1n, startedAt: later }),
      record({ account: fresh('account'), model, vendorCost: 5n }),
    ])
    const rows = async (filter: object, ...by: Parameters<UsageStore['summarise']>[0]['by'][number][]) =>
      (await other.summarise({ ...filter, by })).map((row) => [
        ...by.map((each) => row[each]),
        row.vendorCost,
        row.uncosted,
      ])
    for (const range of [{}, { from: start, to: later + 1 }, { from: start - day, to: start + day }]) {
      assert.deepEqual(await rows({ model, ...range }), [[large * 2n + 6n, 1]])
      assert.deepEqual(await rows({ account, ...range }), [[large * 2n, 1]])
      assert.deepEqual(await rows({ model, ...range }, 'provider'), [
        ['', 5n, 0],
        ['a', large * 2n, 0],
        ['b', 1n, 1],
      ])
      assert.deepEqual(await rows({ account, ...range }, 'provider', 'providerModel'), [
        ['a', 'x', large * 2n, 0],
        ['a', 'y', 0n, 0],
        ['b', 'x', 0n, 1],
      ])
      assert.deepEqual(await rows({ account, ...range }, 'tag'), [
        ['', large * 2n, 1],
        ['t', 0n, 0],
        ['u', 0n, 0],
      ])
    }
    assert.deepEqual(await rows({ account, key: 'k' }, 'day'), [['2031-01-10', 0n, 0]])
  })

  it('groups sums by any combination of dimensions, ordered by them', async (store) => {
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

  it('sums are exact to the millisecond for any time range and any time zone offset', async (store, other) => {
    const account = fresh('account')
    const times = Array.from({ length: 60 }, (_, index) => start + index * 67 * minute + (index % 7) * 111)
    const records = times.map((startedAt, index) =>
      record({ account, startedAt, promptTokens: index, cost: BigInt(index) }),
    )
    for (let from = 0; from < records.length; from += 20) await store.append(records.slice(from, from + 20))
    const moments = [
      start - day,
      start,
      start + 1,
      times[7],
      times[31],
      start + 30 * minute,
      start + 91 * minute,
      start + day,
      start + 2 * day + 5 * 60 * minute,
    ]
    for (const from of moments) {
      for (const to of moments) {
        const expected = records.filter(({ startedAt }) => startedAt >= (from ?? 0) && startedAt < (to ?? 0))
        const filter = { account, from: from ?? 0, to: to ?? 0 }
        const [all] = await other.summarise({ ...filter, by: [] })
        const cost = expected.reduce((sum, each) => sum + each.cost, 0n)
        const tokens = expected.reduce((sum, each) => sum + each.promptTokens, 0)
        const found = [all?.requests ?? 0, all?.promptTokens ?? 0, all?.cost ?? 0n]
        assert.deepEqual(found, [expected.length, tokens, cost], `from ${from} to ${to}`)
      }
    }
    for (const offsetMinutes of [0, -45, 17, 345, -720]) {
      const days = new Map<string, number>()
      for (const time of times) {
        const name = new Date(time + offsetMinutes * minute).toISOString().slice(0, 10)
        days.set(name, (days.get(name) ?? 0) + 1)
      }
      const rows = await store.summarise({ account, by: ['day'], offsetMinutes })
      assert.deepEqual(
        rows.map((row) => [row.day, row.requests]),
        [...days],
      )
    }
  })

  it('groups sums by periods of any length, which begin at multiples of it in the time zone', async (store) => {
    const account = fresh('account')
    const times = Array.from({ length: 80 }, (_, index) => start + index * 17 * minute + (index % 5) * 333)
    await store.append(times.map((startedAt, index) => record({ account, startedAt, cost: BigInt(index) })))
    for (const [periodMs, offsetMinutes] of [
      [undefined, 0],
      [15 * minute, 0],
      [60 * minute, 345],
      [day, 0],
      [day, -720],
      [7 * minute, 0],
      [60 * minute, 17],
      [2 * day, 60],
    ] as const) {
      const [length, offset] = [periodMs ?? 60 * minute, offsetMinutes * minute]
      for (const filter of [{ account }, { account, from: start + 31 * minute, to: start + 20 * 60 * minute + 1 }]) {
        const { from = 0, to = Infinity } = filter as { from?: number; to?: number }
        const expected = new Map<number, [number, bigint]>()
        for (const [index, time] of times.entries()) {
          if (time < from || time >= to) continue
          const period = Math.floor((time + offset) / length) * length - offset
          const [count, cost] = expected.get(period) ?? [0, 0n]
          expected.set(period, [count + 1, cost + BigInt(index)])
        }
        const question = { ...filter, by: ['period'], offsetMinutes, ...(periodMs && { periodMs }) } as const
        const rows = await store.summarise(question)
        assert.deepEqual(
          rows.map(({ period, requests, cost }) => [period, [requests, cost]]),
          [...expected],
          `${periodMs} ${offsetMinutes}`,
        )
      }
    }
    await store.append([record({ account, model: 'other', startedAt: start })])
    const rows = await store.summarise({ account, by: ['model', 'period'], periodMs: 2 * day })
    assert.deepEqual(
      rows.map(({ model, requests }) => [model, requests]),
      [
        ['model', 80],
        ['other', 1],
      ],
    )
  })

  it('sums over all accounts match those of each', async (store) => {
    const model = fresh('model')
    await store.append([
      record({ account: fresh('account'), model, key: 'k' }),
      record({ account: fresh('account'), model, outcome: 'cancelled' }),
      record({ account: fresh('account'), model, group: 'vip', startedAt: start + day }),
    ])
    const [all] = await store.summarise({ model, by: [] })
    assert.deepEqual([all?.requests, all?.incomplete, all?.cost], [3, 1, 90n])
    const groups = await store.summarise({ model, by: ['group', 'day'] })
    assert.deepEqual(
      groups.map((row) => [row.group, row.day, row.requests]),
      [
        ['default', '2031-01-10', 2],
        ['vip', '2031-01-11', 1],
      ],
    )
    assert.equal((await store.summarise({ model, by: ['account'] })).length, 3)
    assert.equal((await store.summarise({ model, key: 'k', by: [] }))[0]?.requests, 1)
  })

  it('days begin at midnight in the given time zone offset', async (store) => {
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
}

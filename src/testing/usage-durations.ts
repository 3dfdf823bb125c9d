/** The tests of the usage store contract for `durations`. */
import assert from 'node:assert/strict'
import type { Durations, UsageFilter, UsageStore } from '../observe/usage/contract.ts'
import { fresh, type Suite } from './kit.ts'
import { record, start } from './usage-sums.ts'

const ascending = (values: readonly number[]) => values.toSorted((left, right) => left - right)
const shown = (found: readonly Durations[]) =>
  found.map(({ totalMs, firstByteMs }) => [ascending(totalMs), ascending(firstByteMs)])

export function testDurations(it: Suite<UsageStore>['it']): void {
  it('measures the last completed requests of each range', async (store, other) => {
    if (other.durations === undefined) return
    const account = fresh('account')
    const at = (startedAt: number, totalMs: number, firstByteMs?: number) =>
      record({ account, startedAt: start + startedAt, totalMs, ...(firstByteMs !== undefined && { firstByteMs }) })
    await store.append([
      at(-1, 1),
      at(0, 2, 0.5),
      at(1, 3),
      at(2, 4, 0),
      at(9.5, 5, 1),
      at(10, 6),
      at(30, 7),
      { ...at(3, 8), outcome: 'failed' },
      { ...at(4, 9), outcome: 'cancelled' },
    ])
    const starts = [0, 10, 20].map((offset) => start + offset)
    const read = async (most: number) =>
      shown(await (other.durations?.({ account, starts, to: start + 30, most }) ?? []))
    assert.deepEqual(await read(1_000), [
      [
        [2, 3, 4, 5],
        [0, 0.5, 1],
      ],
      [[6], []],
      [[], []],
    ])
    assert.deepEqual((await read(2))[0], [
      [4, 5],
      [0, 1],
    ])
  })

  it('measures the requests that match', async (store, other) => {
    if (other.durations === undefined) return
    const [account, model, user, session, tag] = ['account', 'model', 'user', 'session', 'tag'].map(fresh) as [
      string,
      string,
      string,
      string,
      string,
    ]
    const key = fresh('key')
    // More labels than any store reads one by one.
    const many = Array.from({ length: 300 }, (_, index) => record({ account, model, user: `${user} ${index}` }))
    await store.append([
      record({ account, totalMs: 1, key }),
      record({ account, totalMs: 2, user }),
      record({ account, totalMs: 3, session, user }),
      record({ account, totalMs: 4, tags: ['other', tag] }),
      ...many.map((each, index) => ({ ...each, totalMs: 1_000 + index })),
    ])
    const read = async (filter: UsageFilter) => {
      const question = { ...filter, starts: [start - 5, start], to: start + 1, most: 1_000 }
      const [before, found] = (await other.durations?.(question)) ?? []
      assert.deepEqual(before, { totalMs: [], firstByteMs: [] })
      return ascending(found?.totalMs ?? [])
    }
    const all = many.map((_, index) => 1_000 + index)
    assert.deepEqual(await read({ account }), [1, 2, 3, 4, ...all])
    assert.deepEqual(await read({ model }), all)
    assert.deepEqual(await read({ account, key }), [1])
    assert.deepEqual(await read({ user }), [2, 3])
    assert.deepEqual(await read({ session }), [3])
    assert.deepEqual(await read({ session, model }), [])
    assert.deepEqual(await read({ account, tag }), [4])
    assert.deepEqual(await read({ account: fresh('account') }), [])
  })
}

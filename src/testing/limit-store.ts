import assert from 'node:assert/strict'
import type { LimitStore } from '../money/limits/contract.ts'
import { fresh, oddNames, race, suiteOf, type StoreKitOptions, type TestFunction } from './kit.ts'
import { claim, leaseMs, rate, testSharedBuckets, whole } from './limit-store-shared.ts'
import { testBucketNames } from './exact-names.ts'

/**
 * Registers one test for each requirement of the `LimitStore` contract.
 *
 * @param factory Opens the store of one test. It need not be empty: every test uses buckets of its own.
 * @example
 * ```ts
 * testLimitStore(test, () => myStore())
 * ```
 */
export function testLimitStore(
  test: TestFunction,
  factory: () => Promise<LimitStore> | LimitStore,
  options: StoreKitOptions<LimitStore> = {},
): void {
  const { it, wait, withLease } = suiteOf('limit store', test, factory, options)

  it('draws from a bucket until it is empty and reports the units left', async (store, other) => {
    const rule = rate({ burst: 3, limit: 3 })
    for (const left of [2, 1, 0]) {
      const verdict = await (left === 1 ? other : store).take(claim([rule]))
      assert.deepEqual([verdict.admitted, whole(verdict.left), verdict.free], [true, [left], []])
    }
    const refused = await store.take(claim([rule]))
    assert.deepEqual([refused.admitted, whole(refused.left)], [false, [0]])
  })

  it('draws the cost of each claim and rejects it only if too few units are left', async (store) => {
    const rule = rate({ cost: 4 })
    assert.deepEqual(whole((await store.take(claim([rule]))).left), [6])
    assert.equal((await store.take(claim([{ ...rule, cost: 7 }]))).admitted, false)
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 6 }]))).left), [0])
    assert.equal((await store.take(claim([{ ...rule, cost: 0 }]))).admitted, true)
  })

  it('admits concurrent claims up to the burst and no further', async (store, other) => {
    const rule = rate({ burst: 50, limit: 50 })
    const verdicts = await race(200, [store, other], (each) => each.take(claim([rule])))
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 50)
  })

  it('refills evenly, up to the burst', async (store) => {
    const rule = rate({ limit: 20, periodMs: 1_000, burst: 4 })
    const empty = rate({ limit: 1, periodMs: 3_600_000, burst: 1 })
    const began = performance.now()
    assert.equal((await store.take(claim([{ ...rule, cost: 4 }]))).admitted, true)
    await store.take(claim([empty]))
    await wait(120)
    const { left } = await store.take(claim([{ ...rule, cost: 0 }]))
    // The wait may have been longer than requested, but not shorter.
    const refilled = ((performance.now() - began) * 20) / 1_000
    assert.ok((left[0] ?? 0) >= 2.3, `only ${left[0]} units were refilled`)
    assert.ok(
      (left[0] ?? 0) <= Math.min(4, Math.max(2.5, refilled + 0.1)),
      `${left[0]} units were refilled, which is too many`,
    )
    await wait(400)
    assert.deepEqual((await store.take(claim([{ ...rule, cost: 0 }]))).left, [4])
    assert.equal((await store.take(claim([empty]))).admitted, false)
  })

  it('does not use the clock of the process', async (store) => {
    const rule = rate({ limit: 1, periodMs: 60_000, burst: 1 })
    await store.take(claim([rule]))
    const clock = Date.now
    try {
      for (const minutes of [10, -10]) {
        Date.now = () => clock() + minutes * 60_000
        assert.equal((await store.take(claim([rule]))).admitted, false)
      }
    } finally {
      Date.now = clock
    }
  })

  it('takes a claim in full or not at all', async (store) => {
    const [large, small] = [rate(), rate({ burst: 1, limit: 1 })]
    assert.equal((await store.take(claim([large, small]))).admitted, true)
    const refused = await store.take(claim([large, small]))
    assert.deepEqual([refused.admitted, whole(refused.left)], [false, [9, 0]])
    assert.equal((await store.take(claim([small, large]))).admitted, false)
    assert.deepEqual(whole((await store.take(claim([large]))).left), [8])
  })

  it('takes concurrent claims on the same buckets in full or not at all, in whatever order they name them', async (store, other) => {
    const [first, second] = [rate({ burst: 30, limit: 30 }), rate({ burst: 20, limit: 20 })]
    const verdicts = await race(100, [store, other], (each, index) =>
      each.take(claim(index % 4 < 2 ? [first, second] : [second, first])),
    )
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 20)
    assert.deepEqual(whole((await store.take(claim([{ ...first, cost: 0 }]))).left), [10])
  })

  testSharedBuckets(it)

  it('similar bucket names are separate buckets', async (store) => {
    const unique = fresh('x')
    for (const odd of oddNames) {
      const rule = rate({ bucket: `${odd} ${unique}`, burst: 1, limit: 1 })
      const place = { bucket: `${odd} ${unique} places`, places: 1 }
      const { admitted, left, free } = await store.take(claim([rule], [place]))
      assert.deepEqual([admitted, whole(left), free], [true, [0], [0]])
    }
  })

  testBucketNames(it)

  it('applies a changed limit to a bucket already in use', async (store) => {
    const rule = rate({ cost: 5 })
    await store.take(claim([rule]))
    assert.deepEqual(whole((await store.take(claim([{ ...rule, burst: 20, cost: 1 }]))).left), [14])
    assert.equal((await store.take(claim([{ ...rule, burst: 6, cost: 1 }]))).admitted, false)
  })

  it('large limits are exact to the unit', async (store) => {
    const rule = rate({ burst: 1e12, limit: 1, periodMs: 1e11, cost: 1e12 - 3 })
    assert.deepEqual(whole((await store.take(claim([rule]))).left), [3])
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 3 }]))).left), [0])
    assert.equal((await store.take(claim([{ ...rule, cost: 1 }]))).admitted, false)
  })

  it('grants concurrency slots up to the limit and reports how many are free', async (store, other) => {
    const place = { bucket: fresh('bucket'), places: 2 }
    assert.deepEqual((await store.take(claim([], [place]))).free, [1])
    assert.deepEqual((await other.take(claim([], [place]))).free, [0])
    const refused = await store.take(claim([], [place]))
    assert.deepEqual([refused.admitted, refused.free], [false, [0]])
  })

  it('grants concurrent claims exactly as many slots as there are', async (store, other) => {
    const place = { bucket: fresh('bucket'), places: 7 }
    const verdicts = await race(100, [store, other], (each) => each.take(claim([], [place])))
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 7)
  })

  it('a repeated claim with the same id holds its slot once', async (store, other) => {
    const place = { bucket: fresh('bucket'), places: 2 }
    const mine = claim([], [place])
    await store.take(mine)
    assert.deepEqual((await other.take(mine)).free, [1])
    assert.deepEqual((await store.take(claim([], [place]))).free, [0])
    assert.equal((await store.take(mine)).admitted, true)
  })

  it('give frees only the slots that the claim holds', async (store, other) => {
    const place = { bucket: fresh('bucket'), places: 1 }
    const mine = claim([], [place])
    await store.take(mine)
    await other.give({ id: fresh('stranger'), places: [place.bucket], corrections: [] })
    assert.equal((await store.take(claim([], [place]))).admitted, false)
    await other.give({ id: mine.id, places: [place.bucket, fresh('elsewhere')], corrections: [] })
    await store.give({ id: mine.id, places: [place.bucket], corrections: [] })
    assert.deepEqual((await store.take(claim([], [place]))).free, [0])
    assert.equal((await store.take(claim([], [place]))).admitted, false)
  })

  it('takes slots and units together or not at all', async (store) => {
    const rule = rate({ burst: 2, limit: 2 })
    const place = { bucket: fresh('bucket'), places: 1 }
    const mine = claim([rule], [place])
    await store.take(mine)
    const full = await store.take(claim([rule], [place]))
    assert.deepEqual([full.admitted, whole(full.left), full.free], [false, [1], [0]])
    await store.give({ id: mine.id, places: [place.bucket], corrections: [] })
    const poor = await store.take(claim([{ ...rule, cost: 2 }], [place]))
    assert.deepEqual([poor.admitted, whole(poor.left), poor.free], [false, [1], [1]])
    assert.equal((await store.take(claim([rule], [place]))).admitted, true)
  })

  it('frees a slot when its lease expires', async (store, other) => {
    await withLease(async (shortMs, expire) => {
      const place = { bucket: fresh('bucket'), places: 1 }
      await store.take({ ...claim([], [place]), leaseMs: shortMs })
      assert.equal((await other.take(claim([], [place]))).admitted, false)
      await expire()
      assert.equal((await other.take(claim([], [place]))).admitted, true)
    })
  })

  it('renew extends held slots but does not restore expired ones', async (store, other) => {
    await withLease(async (shortMs, expire) => {
      const [kept, lost] = [
        { bucket: fresh('bucket'), places: 1 },
        { bucket: fresh('bucket'), places: 1 },
      ]
      const mine = { ...claim([], [kept, lost]), leaseMs: shortMs }
      await store.take(mine)
      await other.renew(
        [
          { id: mine.id, places: [kept.bucket, fresh('elsewhere')] },
          { id: fresh('stranger'), places: [lost.bucket] },
        ],
        leaseMs,
      )
      await expire()
      assert.equal((await store.take(claim([], [kept]))).admitted, false)
      await store.renew([{ id: mine.id, places: [lost.bucket] }], leaseMs)
      assert.equal((await other.take(claim([], [lost]))).admitted, true)
      await store.renew([], leaseMs)
    })
  })

  it('a positive correction draws more units, below zero if necessary', async (store, other) => {
    const rule = rate({ cost: 2 })
    const mine = claim([rule])
    await store.take(mine)
    await other.give({ id: mine.id, places: [], corrections: [{ ...rule, cost: 11 }] })
    const { admitted, left } = await store.take(claim([{ ...rule, cost: 1 }]))
    assert.deepEqual([admitted, whole(left)], [false, [-3]])
  })

  it('a negative correction returns units, up to the burst', async (store, other) => {
    const rule = rate({ cost: 8 })
    const mine = claim([rule])
    await store.take(mine)
    await other.give({ id: mine.id, places: [], corrections: [{ ...rule, cost: -5 }] })
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 0 }]))).left), [7])
    await store.give({ id: mine.id, places: [], corrections: [{ ...rule, cost: -100 }] })
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 0 }]))).left), [10])
  })

  it('loses no concurrent correction', async (store, other) => {
    const rule = rate({ burst: 1_000, limit: 1, periodMs: 1e11, cost: 500 })
    await store.take(claim([rule]))
    await race(50, [store, other], async (each, index) =>
      each.give({ id: fresh('call'), places: [], corrections: [{ ...rule, cost: index % 2 === 0 ? 7 : -3 }] }),
    )
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 0 }]))).left), [400])
  })
}

/**
 * The limit store contract as a suite: `testLimitStore(test, () => myStore())`. Runs in any runner and needs nothing but
 * node:assert.
 */
import assert from 'node:assert/strict'
import type { LimitClaim, LimitStore, PlaceRule, RateRule } from '../limits/contract.ts'
import { fresh, oddNames, race, suiteOf, type StoreKitOptions } from './kit.ts'
import { testBucketNames } from './lookalikes.ts'
import type { TestFunction } from './runner.ts'

const hour = 3_600_000
/** Long enough for any test. */
const leaseMs = 600_000
/** For the tests that wait until it is over. */
const shortMs = 150

function rate(changes: Partial<RateRule> = {}): RateRule {
  return { bucket: fresh('bucket'), cost: 1, limit: 10, periodMs: hour, burst: 10, ...changes }
}

function claim(rates: readonly RateRule[], places: readonly PlaceRule[] = [], id: string = fresh('call')): LimitClaim {
  return { id, rates, places, leaseMs }
}

/** Units left, without what was refilled since a moment ago. */
function whole(left: readonly number[]): number[] {
  return left.map((number) => Math.floor(number + 0.001))
}

export function testLimitStore(
  test: TestFunction,
  factory: () => Promise<LimitStore> | LimitStore,
  options: StoreKitOptions<LimitStore> = {},
): void {
  const { it, wait } = suiteOf('limit store', test, factory, options)

  it('draws from a bucket until it is empty, and tells what is left', async (store, other) => {
    const rule = rate({ burst: 3, limit: 3 })
    for (const left of [2, 1, 0]) {
      const verdict = await (left === 1 ? other : store).take(claim([rule]))
      assert.deepEqual([verdict.admitted, whole(verdict.left), verdict.free], [true, [left], []])
    }
    const refused = await store.take(claim([rule]))
    assert.deepEqual([refused.admitted, whole(refused.left)], [false, [0]])
  })

  it('draws what a call costs, and refuses only what is not there', async (store) => {
    const rule = rate({ cost: 4 })
    assert.deepEqual(whole((await store.take(claim([rule]))).left), [6])
    assert.equal((await store.take(claim([{ ...rule, cost: 7 }]))).admitted, false)
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 6 }]))).left), [0])
    assert.equal((await store.take(claim([{ ...rule, cost: 0 }]))).admitted, true)
  })

  it('admits exactly as many as there is room for, when many ask at once', async (store, other) => {
    const rule = rate({ burst: 50, limit: 50 })
    const verdicts = await race(200, [store, other], (each) => each.take(claim([rule])))
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 50)
  })

  it('refills evenly, up to the burst and no further', async (store) => {
    const rule = rate({ limit: 20, periodMs: 1_000, burst: 4 })
    const empty = rate({ limit: 1, periodMs: hour, burst: 1 })
    const began = performance.now()
    assert.equal((await store.take(claim([{ ...rule, cost: 4 }]))).admitted, true)
    await store.take(claim([empty]))
    await wait(120)
    const { left } = await store.take(claim([{ ...rule, cost: 0 }]))
    // The wait may have been longer than asked for, but not shorter.
    const refilled = ((performance.now() - began) * 20) / 1_000
    assert.ok((left[0] ?? 0) >= 2.3, `only ${left[0]} came back`)
    assert.ok((left[0] ?? 0) <= Math.min(4, Math.max(2.5, refilled + 0.1)), `${left[0]} came back`)
    await wait(400)
    assert.deepEqual((await store.take(claim([{ ...rule, cost: 0 }]))).left, [4])
    assert.equal((await store.take(claim([empty]))).admitted, false)
  })

  it('has time of its own: the clock of a process means nothing', async (store) => {
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

  it('takes all of a claim or nothing of it', async (store) => {
    const [large, small] = [rate(), rate({ burst: 1, limit: 1 })]
    assert.equal((await store.take(claim([large, small]))).admitted, true)
    const refused = await store.take(claim([large, small]))
    assert.deepEqual([refused.admitted, whole(refused.left)], [false, [9, 0]])
    assert.equal((await store.take(claim([small, large]))).admitted, false)
    assert.deepEqual(whole((await store.take(claim([large]))).left), [8])
  })

  it('takes all or nothing also when many claims over the same buckets cross', async (store, other) => {
    const [first, second] = [rate({ burst: 30, limit: 30 }), rate({ burst: 20, limit: 20 })]
    const verdicts = await race(100, [store, other], (each, index) =>
      each.take(claim(index % 4 < 2 ? [first, second] : [second, first])),
    )
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 20)
    assert.deepEqual(whole((await store.take(claim([{ ...first, cost: 0 }]))).left), [10])
  })

  it('keeps buckets apart that look alike', async (store) => {
    const unique = fresh('x')
    for (const odd of oddNames) {
      const rule = rate({ bucket: `${odd} ${unique}`, burst: 1, limit: 1 })
      const place = { bucket: `${odd} ${unique} places`, places: 1 }
      const { admitted, left, free } = await store.take(claim([rule], [place]))
      assert.deepEqual([admitted, whole(left), free], [true, [0], [0]])
    }
  })

  testBucketNames(it)

  it('lets a changed limit take effect on what was drawn before', async (store) => {
    const rule = rate({ cost: 5 })
    await store.take(claim([rule]))
    assert.deepEqual(whole((await store.take(claim([{ ...rule, burst: 20, cost: 1 }]))).left), [14])
    assert.equal((await store.take(claim([{ ...rule, burst: 6, cost: 1 }]))).admitted, false)
  })

  it('counts large limits to the unit', async (store) => {
    const rule = rate({ burst: 1e12, limit: 1, periodMs: 1e11, cost: 1e12 - 3 })
    assert.deepEqual(whole((await store.take(claim([rule]))).left), [3])
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 3 }]))).left), [0])
    assert.equal((await store.take(claim([{ ...rule, cost: 1 }]))).admitted, false)
  })

  it('gives places to as many as there are, and tells how many are free', async (store, other) => {
    const place = { bucket: fresh('bucket'), places: 2 }
    assert.deepEqual((await store.take(claim([], [place]))).free, [1])
    assert.deepEqual((await other.take(claim([], [place]))).free, [0])
    const refused = await store.take(claim([], [place]))
    assert.deepEqual([refused.admitted, refused.free], [false, [0]])
  })

  it('gives exactly as many places as there are, when many ask at once', async (store, other) => {
    const place = { bucket: fresh('bucket'), places: 7 }
    const verdicts = await race(100, [store, other], (each) => each.take(claim([], [place])))
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 7)
  })

  it('gives a call its place once, however often it asks', async (store, other) => {
    const place = { bucket: fresh('bucket'), places: 2 }
    const mine = claim([], [place])
    await store.take(mine)
    assert.deepEqual((await other.take(mine)).free, [1])
    assert.deepEqual((await store.take(claim([], [place]))).free, [0])
    assert.equal((await store.take(mine)).admitted, true)
  })

  it('frees a place that is given back, and no other', async (store, other) => {
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

  it('takes a place and units together or neither', async (store) => {
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

  it('frees the place of a call whose lease has run out', async (store, other) => {
    const place = { bucket: fresh('bucket'), places: 1 }
    await store.take({ ...claim([], [place]), leaseMs: shortMs })
    assert.equal((await other.take(claim([], [place]))).admitted, false)
    await wait(shortMs + 20)
    assert.equal((await other.take(claim([], [place]))).admitted, true)
  })

  it('keeps a place that is renewed, and gives back none that was lost', async (store, other) => {
    const [kept, lost] = [
      { bucket: fresh('bucket'), places: 1 },
      { bucket: fresh('bucket'), places: 1 },
    ]
    const mine = { ...claim([], [kept, lost]), leaseMs: shortMs }
    await store.take(mine)
    await other.renew(
      [
        { id: mine.id, places: [kept.bucket, fresh('elsewhere')] },
        { id: fresh('nobody'), places: [lost.bucket] },
      ],
      leaseMs,
    )
    await wait(shortMs + 20)
    assert.equal((await store.take(claim([], [kept]))).admitted, false)
    await store.renew([{ id: mine.id, places: [lost.bucket] }], leaseMs)
    assert.equal((await other.take(claim([], [lost]))).admitted, true)
    await store.renew([], leaseMs)
  })

  it('draws afterwards what was used beyond the estimate, below zero if need be', async (store, other) => {
    const rule = rate({ cost: 2 })
    const mine = claim([rule])
    await store.take(mine)
    await other.give({ id: mine.id, places: [], corrections: [{ ...rule, cost: 11 }] })
    const { admitted, left } = await store.take(claim([{ ...rule, cost: 1 }]))
    assert.deepEqual([admitted, whole(left)], [false, [-3]])
  })

  it('gives back what was not used, and never more than the burst', async (store, other) => {
    const rule = rate({ cost: 8 })
    const mine = claim([rule])
    await store.take(mine)
    await other.give({ id: mine.id, places: [], corrections: [{ ...rule, cost: -5 }] })
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 0 }]))).left), [7])
    await store.give({ id: mine.id, places: [], corrections: [{ ...rule, cost: -100 }] })
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 0 }]))).left), [10])
  })

  it('loses none of many corrections at once', async (store, other) => {
    const rule = rate({ burst: 1_000, limit: 1, periodMs: 1e11, cost: 500 })
    await store.take(claim([rule]))
    await race(50, [store, other], async (each, index) =>
      each.give({ id: fresh('call'), places: [], corrections: [{ ...rule, cost: index % 2 === 0 ? 7 : -3 }] }),
    )
    assert.deepEqual(whole((await store.take(claim([{ ...rule, cost: 0 }]))).left), [400])
  })
}

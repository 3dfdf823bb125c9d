/** The tests of limits that several accounts share, together with limits of their own. */
import assert from 'node:assert/strict'
import { ownedBy } from '../money/limits/bucket.ts'
import type { LimitClaim, LimitStore, PlaceRule, RateRule } from '../money/limits/contract.ts'
import { fresh, race, type Suite } from './kit.ts'

const hour = 3_600_000
/** Longer than any test. */
export const leaseMs = 600_000

export function rate(changes: Partial<RateRule> = {}): RateRule {
  return { bucket: fresh('bucket'), cost: 1, limit: 10, periodMs: hour, burst: 10, ...changes }
}

export function claim(
  rates: readonly RateRule[],
  places: readonly PlaceRule[] = [],
  id: string = fresh('call'),
): LimitClaim {
  return { id, rates, places, leaseMs }
}

/** Units left, without the fraction refilled during the test. */
export function whole(left: readonly number[]): number[] {
  return left.map((number) => Math.floor(number + 0.001))
}

export function testSharedBuckets(it: Suite<LimitStore>['it']): void {
  it('takes buckets of an account and shared ones together or not at all', async (store, other) => {
    const [account, shared] = [fresh('account'), fresh('shared')]
    const own = rate({ bucket: ownedBy(account, 'rate'), burst: 5, limit: 5 })
    const all = rate({ bucket: `${shared} rate`, burst: 3, limit: 3 })
    const slots = [
      { bucket: ownedBy(account, 'places'), places: 9 },
      { bucket: `${shared} places`, places: 2 },
    ]
    const first = claim([own, all], slots)
    const taken = await store.take(first)
    assert.deepEqual([taken.admitted, whole(taken.left), taken.free], [true, [4, 2], [8, 1]])
    await other.take(claim([own, all], slots))
    const full = await store.take(claim([own, all], slots))
    assert.deepEqual([full.admitted, whole(full.left), full.free], [false, [3, 1], [7, 0]])
    const again = await other.take(claim([own], slots, first.id))
    assert.deepEqual([again.admitted, whole(again.left), again.free], [true, [2], [7, 0]])
    const dear = await store.take(claim([own, { ...all, cost: 2 }], slots, first.id))
    assert.deepEqual([dear.admitted, whole(dear.left), dear.free], [false, [2, 1], [8, 1]])
    const still = await store.take(claim([], slots))
    assert.deepEqual([still.admitted, still.free], [false, [7, 0]])
    const held = { id: first.id, places: slots.map(({ bucket }) => bucket) }
    await store.renew([held], leaseMs)
    await other.give({ ...held, corrections: [own, all].map((rule) => ({ ...rule, cost: -1 })) })
    const after = await store.take(
      claim(
        [
          { ...own, cost: 0 },
          { ...all, cost: 0 },
        ],
        slots,
      ),
    )
    assert.deepEqual([after.admitted, whole(after.left), after.free], [true, [3, 2], [7, 0]])
  })

  it('concurrent claims of several accounts on a shared bucket are admitted up to its limit and no further', async (store, other) => {
    const [first, second] = [fresh('account'), fresh('account')]
    const all = rate({ bucket: fresh('shared'), burst: 30, limit: 30 })
    const own = (account: string) => rate({ bucket: ownedBy(account, 'rate'), burst: 60, limit: 60 })
    const verdicts = await race(100, [store, other], (each, index) =>
      each.take(claim([own(index % 4 < 2 ? first : second), all])),
    )
    assert.equal(verdicts.filter(({ admitted }) => admitted).length, 30)
    const left = await Promise.all(
      [first, second].map(async (account) => (await store.take(claim([{ ...own(account), cost: 0 }]))).left),
    )
    assert.equal(
      whole(left.flat()).reduce((sum, each) => sum + each, 0),
      90,
    )
  })
}

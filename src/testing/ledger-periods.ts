/** The tests of the periods of caps, and of the leases of holds that count for them. */
import assert from 'node:assert/strict'
import type { Ledger } from '../money/ledger/contract.ts'
import type { CapState } from '../money/caps/contract.ts'
import { fresh, type Suite } from './kit.ts'
import { funded } from './ledger-accounts.ts'
import { amountsOf, capOf, capTests, holdOf, settlementOf, storeTime, useOf } from './ledger-caps.ts'

const nothing = amountsOf(0, 0, 0)
const farAhead = 8e15

export function testCapPeriods({ it, wait, withLease }: Suite<Ledger>): void {
  const test = capTests(it)

  test('each period counts anew; what belongs to a hold counts in the period of the hold', async (ledger, other) => {
    await withLease(async (periodMs) => {
      const account = await funded(ledger, 100n)
      const start = await storeTime(ledger)
      const boundary = start + periodMs
      const claim = capOf({ money: 10n }, { window: 'two', periods: { boundaries: [start, boundary, farAhead] } })
      const first = { ...claim, periods: { boundaries: [start, farAhead] } }
      const holdOfAmount = (amount: bigint) => holdOf(account, [claim], { amount })
      const [settled, released, refunded] = [holdOfAmount(1n), holdOfAmount(2n), holdOfAmount(3n)]
      const verdicts = [await ledger.hold(settled), await ledger.hold(released), await ledger.hold(refunded)] as const
      for (const { outcome, caps } of verdicts) {
        assert.deepEqual([outcome, caps?.[0]?.start, caps?.[0]?.end], ['held', start, boundary])
      }
      assert.equal(verdicts[0].caps?.[0]?.resetsAt, boundary)
      await other.settle(settlementOf(refunded, verdicts[2], 3n))
      assert.deepEqual((await useOf(ledger, claim)).settled, amountsOf(3, 0, 1))

      await wait(boundary - (await storeTime(ledger)) + 5)
      const next = holdOf(account, [claim], { amount: 10n })
      const verdict = await ledger.hold(next)
      assert.deepEqual([verdict.outcome, verdict.caps?.[0]?.start], ['held', boundary])
      await other.settle(settlementOf(settled, verdicts[0], 4n, 7n))
      await other.release(released)
      await other.credit({ account, amount: 2n, reference: fresh('r'), refunds: refunded.id })
      assert.deepEqual(await useOf(ledger, first), { settled: amountsOf(5, 7, 2), held: nothing })
      assert.deepEqual(await useOf(ledger, claim), { settled: nothing, held: amountsOf(10, 0, 1) })
    })
  })

  test('a repeated hold stays in the period in which it was made', async (ledger, other) => {
    await withLease(async (periodMs) => {
      const account = await funded(ledger, 100n)
      const start = await storeTime(ledger)
      const boundary = start + periodMs
      const claim = capOf({ money: 10n }, { periods: { boundaries: [start, boundary, farAhead] } })
      const hold = holdOf(account, [claim], { amount: 10n })
      assert.equal((await ledger.hold(hold)).caps?.[0]?.start, start)
      await wait(boundary - (await storeTime(ledger)) + 5)
      const again = await other.hold(hold)
      const { start: from, end, held } = again.caps?.[0] ?? {}
      assert.deepEqual([again.outcome, from, end, held], ['held', start, boundary, amountsOf(10, 0, 1)])
      assert.deepEqual((await useOf(ledger, claim)).held, nothing)
    })
  })

  test('a rolling window counts use until its length after the end of the period of the use', async (ledger, other) => {
    await withLease(async (grainMs) => {
      const account = await funded(ledger, 100n)
      const rollingMs = grainMs * 4
      const claim = capOf({ calls: 2n }, { window: 'rolling', periods: { grainMs, rollingMs } })
      const hold = holdOf(account, [claim])
      const verdict = await ledger.hold(hold)
      const { start = 0, end = 0, resetsAt = 0, rollingMs: length } = verdict.caps?.[0] ?? ({} as Partial<CapState>)
      assert.deepEqual([start % grainMs, end - start, length, resetsAt], [0, grainMs, rollingMs, end + rollingMs])
      await ledger.settle(settlementOf(hold, verdict, 1n))
      await wait(end - (await storeTime(ledger)) + 5)
      const second = await other.hold(holdOf(account, [claim]))
      assert.deepEqual([second.outcome, second.caps?.[0]?.start], ['held', end])
      assert.equal(second.caps?.[0]?.resetsAt, resetsAt)
      await wait(resetsAt - grainMs * 0.9 - (await storeTime(ledger)))
      const refused = await other.hold(holdOf(account, [claim]))
      assert.deepEqual([refused.outcome, refused.caps?.[0]?.resetsAt], ['capped', resetsAt])
      assert.deepEqual(await useOf(ledger, claim), { settled: amountsOf(1, 0, 1), held: amountsOf(1, 0, 1) })
      await wait(resetsAt - (await storeTime(ledger)) + 5)
      assert.deepEqual((await useOf(ledger, claim)).settled, nothing)
      assert.equal((await other.hold(holdOf(account, [claim]))).outcome, 'held')
    })
  })

  test('another window counts anew, and leaves the earlier use where it was', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    const claim = capOf({ money: 10n }, { window: 'month' })
    const hold = holdOf(account, [claim], { amount: 9n })
    const verdict = await ledger.hold(hold)
    const week = { ...claim, window: 'week' }
    assert.equal((await other.hold(holdOf(account, [week], { amount: 10n }))).outcome, 'held')
    await ledger.settle(settlementOf(hold, verdict, 8n))
    assert.deepEqual(await useOf(other, claim), { settled: amountsOf(8, 0, 1), held: nothing })
    assert.deepEqual(await useOf(other, week), { settled: nothing, held: amountsOf(10, 0, 1) })
    assert.equal((await other.hold(holdOf(account, [claim], { amount: 3n }))).outcome, 'capped')
  })

  test('rejects a call if its clock is outside all periods, and changes nothing', async (ledger) => {
    const account = await funded(ledger, 10n)
    const now = await storeTime(ledger)
    for (const boundaries of [
      [1_000, 2_000, 3_000],
      [now + 3_600_000, farAhead],
    ]) {
      const claim = capOf({}, { periods: { boundaries } })
      await assert.rejects(async () => ledger.hold(holdOf(account, [capOf({}), claim])))
      await assert.rejects(async () => ledger.caps.read([claim]))
    }
    assert.equal((await ledger.account(account))?.balance, 10n)
  })

  test('an expired hold counts no longer, also for other accounts', async (ledger, other) => {
    await withLease(async (leaseMs, expire) => {
      const [mine, theirs] = [await funded(ledger, 10n), await funded(ledger, 10n)]
      const claim = capOf({ money: 10n, calls: 2n })
      const hold = holdOf(mine, [claim], { amount: 9n, tokens: 5n, leaseMs })
      const verdict = await ledger.hold(hold)
      assert.equal((await other.hold(holdOf(theirs, [claim], { amount: 2n }))).outcome, 'capped')
      await expire()
      assert.deepEqual((await useOf(other, claim)).held, nothing)
      assert.equal((await other.hold(holdOf(theirs, [claim], { amount: 10n }))).outcome, 'held')
      await ledger.settle(settlementOf(hold, verdict, 3n, 4n))
      assert.deepEqual(await useOf(other, claim), { settled: amountsOf(3, 4, 1), held: amountsOf(10, 0, 1) })
      assert.deepEqual((await ledger.audit()).faults, [])
    })
  })

  test('an expired hold makes room for the next one, without a call in between', async (ledger, other) => {
    await withLease(async (leaseMs, expire) => {
      const [mine, theirs] = [await funded(ledger, 10n), await funded(ledger, 10n)]
      const claim = capOf({ money: 10n })
      await ledger.hold(holdOf(mine, [claim], { amount: 10n, leaseMs }))
      await expire()
      assert.equal((await other.hold(holdOf(theirs, [claim], { amount: 10n }))).outcome, 'held')
      assert.equal((await ledger.account(mine))?.balance, 10n)
    })
  })

  test('a renewed hold continues to count', async (ledger, other) => {
    await withLease(async (leaseMs, expire) => {
      const account = await funded(ledger, 10n)
      const claim = capOf({ money: 10n })
      const hold = holdOf(account, [claim], { amount: 9n, leaseMs })
      await ledger.hold(hold)
      await other.renew([hold], 600_000)
      await expire()
      assert.deepEqual((await useOf(ledger, claim)).held, amountsOf(9, 0, 1))
    })
  })

  test('an override ends at its time', async (ledger) => {
    await withLease(async (lastsMs, expire) => {
      const claim = capOf({ money: 5n })
      const { name } = claim
      await ledger.caps.override({ name, limits: { money: 9n }, until: (await storeTime(ledger)) + lastsMs })
      assert.deepEqual((await ledger.caps.read([claim]))[0]?.limits, { money: 9n })
      await expire()
      assert.deepEqual((await ledger.caps.read([claim]))[0]?.limits, { money: 5n })
      assert.deepEqual(await ledger.caps.overrides(name), [])
    })
  })
}

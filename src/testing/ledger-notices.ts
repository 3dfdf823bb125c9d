/** The tests of the notices that settlements record, and of their delivery. */
import assert from 'node:assert/strict'
import type { CapCharge, CapMeasure, AlertThreshold, Notice, NoticeQuestion } from '../money/caps/contract.ts'
import type { Ledger } from '../money/ledger/contract.ts'
import { allPages, fresh, race, type Suite } from './kit.ts'
import { funded } from './ledger-accounts.ts'
import { capOf, capTests, holdOf, settlementOf, storeTime, type CappedLedger } from './ledger-caps.ts'

const leaseMs = 600_000

type Thresholds = NonNullable<CapCharge['thresholds']>

function thresholdAt(at: number, id: string = fresh('threshold')): AlertThreshold {
  return { id, at: BigInt(at), notice: `{"level":${at},"text":"naïve 🎈 中文"}` }
}

function thresholdOf(measure: CapMeasure, at: number, id?: string): AlertThreshold & { readonly measure: CapMeasure } {
  return { ...thresholdAt(at, id), measure }
}

/** The notices that are due and whose ids are in `ids`; ends all others. */
async function due(ledger: CappedLedger, ids: readonly string[]): Promise<Notice[]> {
  const found: Notice[] = []
  for (;;) {
    const taken = await ledger.caps.claimNotices(100, leaseMs)
    for (const notice of taken) {
      if (ids.includes(notice.id)) found.push(notice)
      else await ledger.caps.endNotice(notice.id)
    }
    if (taken.length < 100) return found
  }
}

/** Holds and settles an amount, and returns the id of the hold. */
async function spend(ledger: CappedLedger, account: string, thresholds: Thresholds, amount: bigint, tokens = 0n) {
  const claim = capOf({}, { name: `${account} cap` })
  const hold = holdOf(account, [claim], { amount, tokens })
  const { caps = [] } = await ledger.hold(hold)
  const charges = caps.map((cap) => ({ ...cap, thresholds }))
  await ledger.settle({
    ...settlementOf(hold, { caps }, amount, tokens),
    caps: charges,
  })
  return hold.id
}

export function testNotices({ it, withLease }: Suite<Ledger>): void {
  const test = capTests(it)

  test('the settlement that reaches a threshold records its notice, none before and none after', async (ledger, other) => {
    const account = await funded(ledger, 1_000n)
    const [money, tokens, calls] = [thresholdOf('money', 50), thresholdOf('tokens', 70), thresholdOf('calls', 3)]
    const thresholds = [money, tokens, calls]
    const ids = [money.id, tokens.id, calls.id]
    await spend(ledger, account, thresholds, 49n, 69n)
    assert.deepEqual(await due(other, ids), [])
    const before = await storeTime(ledger)
    const second = await spend(other, account, thresholds, 1n, 0n)
    const third = await spend(ledger, account, thresholds, 30n, 30n)
    await spend(ledger, account, thresholds, 30n, 30n)
    const found = await due(other, ids)
    assert.deepEqual(
      found.map((notice) => ({ ...notice, at: 0 })).sort((left, right) => ids.indexOf(left.id) - ids.indexOf(right.id)),
      [
        { id: money.id, notice: money.notice, settlement: second, account, value: 50n, attempts: 1, at: 0 },
        { id: tokens.id, notice: tokens.notice, settlement: third, account, value: 99n, attempts: 1, at: 0 },
        { id: calls.id, notice: calls.notice, settlement: third, account, value: 3n, attempts: 1, at: 0 },
      ],
    )
    assert.ok(found.every(({ at }) => Math.abs(at - before) < 60_000))
  })

  test('concurrent settlements record one notice per id', async (ledger, other) => {
    const account = await funded(ledger, 1_000n)
    const thresholds = [thresholdOf('calls', 20), thresholdOf('money', 100)]
    await race(40, [ledger, other], async (each) => spend(each, account, thresholds, 5n))
    const reached = thresholds[0]?.id ?? ''
    const found = await due(
      ledger,
      thresholds.map(({ id }) => id),
    )
    assert.deepEqual(new Set(found.map(({ value }) => value)), new Set([20n, 100n]))
    assert.equal(found.length, 2)
    // A second cap with the same id.
    await spend(ledger, await funded(ledger, 100n), [thresholdOf('calls', 1, reached)], 1n)
    assert.deepEqual(await due(other, [reached]), [])
  })

  test('a repeated settlement, and one of a released hold, record nothing', async (ledger) => {
    const account = await funded(ledger, 100n)
    const claim = capOf({})
    const hold = holdOf(account, [claim])
    const { caps = [] } = await ledger.hold(hold)
    await ledger.release(hold)
    const first = thresholdOf('calls', 1)
    await ledger.settle({
      ...settlementOf(hold, {}, 1n),
      caps: caps.map((cap) => ({ ...cap, thresholds: [first] })),
    })
    const settled = await spend(ledger, account, [], 1n)
    const balanceThresholds = [thresholdAt(1_000)]
    await ledger.settle({
      id: settled,
      account,
      amount: 1n,
      caps: caps.map((cap) => ({ ...cap, thresholds: [first] })),
      balanceThresholds,
    })
    assert.deepEqual(await due(ledger, [first.id, balanceThresholds[0]?.id ?? '']), [])
  })

  test('a settlement that takes an account below a level records its notice; open holds do not count', async (ledger, other) => {
    const account = await funded(ledger, 100n)
    const settle = async (amount: bigint, ...thresholds: AlertThreshold[]) => {
      const id = fresh('h')
      await ledger.settle({ id, account, amount, balanceThresholds: thresholds })
      return id
    }
    const [high, low, again, free] = [thresholdAt(50), thresholdAt(20), thresholdAt(50), thresholdAt(0)]
    await ledger.hold({ id: fresh('h'), account, amount: 40n, leaseMs })
    await settle(50n, high, low)
    assert.deepEqual(await due(other, [high.id, low.id]), [])
    const crossed = await settle(1n, high, low)
    await settle(1n, thresholdAt(50, fresh('not')), low)
    const found = await due(other, [high.id, low.id])
    assert.deepEqual(
      found.map(({ id, settlement, value }) => [id, settlement, value]),
      [[high.id, crossed, 49n]],
    )
    await ledger.credit({ account, amount: 30n, reference: fresh('r') })
    await settle(40n, again, low)
    assert.deepEqual(
      (await due(other, [again.id, low.id])).map(({ id, value }) => [id, value]),
      [[again.id, 38n]],
    )
    await ledger.open({ id: account, unlimited: true })
    await settle(100n, free)
    assert.deepEqual(await due(other, [free.id]), [])
  })

  test('notices are listed by account, newest first, page by page, also when they are done', async (ledger, other) => {
    const { caps } = other
    if (caps.listNotices === undefined) return
    const listed = ({ limit = 100, ...question }: NoticeQuestion) =>
      allPages(limit, (page) => caps.listNotices?.({ ...question, ...page }))
    const [account, foreign] = [await funded(ledger, 100n), await funded(ledger, 100n)]
    assert.deepEqual(await listed({ account }), [])
    const thresholds = [1, 2, 3, 4, 5].map((calls) => thresholdOf('calls', calls))
    const ids = thresholds.map(({ id }) => id)
    const settlements: string[] = []
    for (let count = 0; count < 3; count++) settlements.push(await spend(ledger, account, thresholds, 1n))
    const together = await spend(
      ledger,
      foreign,
      [thresholdOf('calls', 1), thresholdOf('money', 1), thresholdOf('money', 2)],
      2n,
    )
    for (let count = 0; count < 2; count++) settlements.push(await spend(other, account, thresholds, 1n))
    await ledger.caps.endNotice(ids[3] as string)
    const all = await listed({ account })
    assert.deepEqual(
      all.map(({ id, settlement, value, account: of }) => [id, settlement, value, of]),
      ids.map((id, index) => [id, settlements[index], BigInt(index + 1), account]).toReversed(),
    )
    assert.equal(all[0]?.notice, thresholds[4]?.notice)
    for (const limit of [1, 2, 5]) assert.deepEqual(await listed({ account, limit }), all)
    const theirs = await listed({ account: foreign })
    assert.deepEqual(
      theirs.map(({ settlement }) => settlement),
      [together, together, together],
    )
    for (const limit of [1, 2]) assert.deepEqual(await listed({ account: foreign, limit }), theirs)
    const everyone = (await listed({ limit: 3 })).filter(({ account: of }) => of === account || of === foreign)
    assert.deepEqual(everyone, [...all.slice(0, 2), ...theirs, ...all.slice(2)])
    assert.deepEqual(await listed({ account: fresh('account') }), [])
    await due(ledger, [])
  })

  test('deleteNotices deletes every notice of an account, also one that is due, and none of others', async (ledger, other) => {
    const { caps } = ledger
    if (caps.deleteNotices === undefined) return
    const [account, foreign] = [await funded(ledger, 1_000n), await funded(ledger, 1_000n)]
    const thresholds = [1, 2, 3].map((calls) => thresholdOf('calls', calls))
    const theirs = thresholdOf('calls', 1)
    for (let count = 0; count < 3; count++) await spend(ledger, account, thresholds, 1n)
    await spend(other, foreign, [theirs], 1n)
    await caps.endNotice(thresholds[1]?.id ?? '')
    for (let more = true; more;) more = await caps.deleteNotices(account)
    assert.deepEqual(
      await due(
        other,
        [...thresholds, theirs].map(({ id }) => id),
      ).then((all) => all.map(({ id }) => id)),
      [theirs.id],
    )
    assert.deepEqual((await other.caps.listNotices?.({ account }))?.items ?? [], [])
    const listed = (await other.caps.listNotices?.({ limit: 1_000 }))?.items ?? [{ id: theirs.id }]
    assert.ok(
      listed.some(({ id }) => id === theirs.id) &&
        !listed.some(({ id }) => thresholds.some((threshold) => threshold.id === id)),
    )
    assert.equal(await caps.deleteNotices(fresh('account')), false)
  })

  test('a notice is taken by one process at a time, again after its lease, and not after its end', async (ledger, other) => {
    await withLease(async (lease, expire) => {
      await due(ledger, [])
      const account = await funded(ledger, 100n)
      const thresholds = [1, 2, 3].map((calls) => thresholdOf('calls', calls))
      const ids = thresholds.map(({ id }) => id)
      // Also of an attempt that was too slow: the next one would find its notices due.
      try {
        for (let count = 0; count < 3; count++) await spend(ledger, account, thresholds, 1n)
        const first = await ledger.caps.claimNotices(2, lease)
        const rest = await other.caps.claimNotices(10, lease)
        assert.deepEqual(
          [first, rest].map((taken) => taken.map(({ id, attempts }) => [id, attempts])),
          [
            [
              [ids[0], 1],
              [ids[1], 1],
            ],
            [[ids[2], 1]],
          ],
        )
        await other.caps.endNotice(ids[0] as string)
        await ledger.caps.endNotice(ids[1] as string, leaseMs)
        await ledger.caps.endNotice(fresh('unknown'))
        assert.deepEqual(await ledger.caps.claimNotices(10, lease), [])
        await expire()
        const later = await race(4, [ledger, other], (each) => each.caps.claimNotices(10, leaseMs))
        assert.deepEqual(
          later.flat().map(({ id, attempts }) => [id, attempts]),
          [[ids[2], 2]],
        )
        await ledger.caps.endNotice(ids[2] as string, 0)
        assert.deepEqual(
          (await other.caps.claimNotices(10, leaseMs)).map(({ id, attempts }) => [id, attempts]),
          [[ids[2], 3]],
        )
      } finally {
        for (const id of ids) await ledger.caps.endNotice(id)
      }
    })
  })
}

/** The tests of what an admission store draws in advance. */
import assert from 'node:assert/strict'
import type { AdmissionStore, SliceEnds } from '../admission/contract.ts'
import type { CapClaim } from '../money/caps/contract.ts'
import { capOf, endOf, plenty, sceneOf, sliceId, tokens, type Called, type Scene } from './admission-scene.ts'
import { race, type Suite } from './kit.ts'

/** Units that a call of the scene draws, and what it holds. */
const [units, amount] = [2, 10n]

/** A slice that was drawn with the first call of a scene, for `calls` more. */
interface Drawn {
  readonly slice: string
  readonly calls: number
  readonly first: Called
}

async function drawn(store: AdmissionStore, scene: Scene, ms: number = 1, leaseMs?: number): Promise<Drawn> {
  const [slice, first] = [sliceId(), scene.call('first', amount, units, leaseMs)]
  const { ahead = 0, limits, hold } = await store.admit(first.claim, first.hold, { id: slice, calls: 8, ms })
  assert.deepEqual([limits.admitted, hold?.outcome], [true, 'held'])
  assert.ok(ahead >= 3 && ahead <= 8, `with plenty of everything, it draws for three to eight calls, not for ${ahead}`)
  return { slice, calls: ahead, first }
}

/** Registers the tests; each does nothing for a store that draws no slices. */
export function testSlices(suite: Suite<AdmissionStore>): void {
  testEnds(suite, false)
  testEnds(suite, true)
  testCaps(suite)
}

/** `isCapped`: of calls with caps. A store that keeps these on other nodes than the accounts may draw none for them. */
function testOf({ it }: Suite<AdmissionStore>, isCapped: boolean) {
  const draws = async (store: AdmissionStore) => {
    if (store.drawsSlices !== true || !isCapped) return store.drawsSlices === true
    const { claim, hold } = (await sceneOf(store, true)).call('first', amount)
    return ((await store.admit(claim, hold, { id: sliceId(), calls: 8, ms: 1 })).ahead ?? 0) > 0
  }
  return (name: string, body: (store: AdmissionStore, other: AdmissionStore) => Promise<void>): void =>
    it(`slices${isCapped ? ' of calls with caps' : ''}: ${name}`, async (store, other) => {
      if (await draws(store)) await body(store, other)
    })
}

function testEnds(suite: Suite<AdmissionStore>, isCapped: boolean): void {
  const { withLease } = suite
  const test = testOf(suite, isCapped)
  const scened = (store: AdmissionStore) => sceneOf(store, isCapped)

  test('hold for each further call what the first one holds, and go back as a whole', async (store, other) => {
    const scene = await scened(store)
    const { slice, calls, first } = await drawn(store, scene)
    const all = BigInt(calls + 1) * amount
    assert.deepEqual(await scene.state(), { balance: -all, held: all, units: -units * (calls + 1), places: -calls - 1 })
    assert.equal((await store.ledger.account(scene.account))?.ahead, BigInt(calls) * amount)
    const returns = [scene.rest(slice, units * calls)]
    await other.finish([endOf(scene.account, first, 4n)], { draws: [], returns })
    assert.deepEqual(await scene.state(), { balance: -4n, held: 0n, units: -units, places: 0 })
    assert.equal((await store.ledger.account(scene.account))?.ahead ?? 0n, 0n)
  })

  test('are drawn once, although their call is admitted again', async (store, other) => {
    const scene = await scened(store)
    const { slice, first } = await drawn(store, scene)
    const { balance, held, places } = await scene.state()
    const again = await other.admit(first.claim, first.hold, { id: slice, calls: 8, ms: 1 })
    assert.equal(again.hold?.outcome, 'held')
    const now = await scene.state()
    assert.deepEqual([now.balance, now.held, now.places], [balance, held, places])
  })

  test('become the holds and places of the calls that they admit', async (store, other) => {
    const scene = await scened(store)
    const { slice, calls } = await drawn(store, scene)
    const [second, third] = [scene.call('second', 7n), scene.call('third', 9n)]
    const before = await scene.state()
    await store.finish([], { draws: [second, third].map((each) => ({ slice, ...each })), returns: [] })
    assert.deepEqual(await scene.state(), before)
    await other.finish([], { draws: [], returns: [scene.rest(slice, units * (calls - 2))] })
    assert.deepEqual(await scene.state(), { balance: -26n, held: 26n, units: -3 * units, places: -3 })
    assert.equal((await store.ledger.hold(second.hold)).outcome, 'held')
    const { overage } = await store.ledger.settle({ id: second.hold.id, account: scene.account, amount: 8n })
    assert.equal(overage, 1n, 'a call that was admitted by a slice has the hold that it asked for')
  })

  test('cover calls that have ended before the store hears of them', async (store) => {
    const scene = await scened(store)
    const { account } = scene
    const { slice, calls, first } = await drawn(store, scene)
    const [second, third] = [scene.call('second', amount), scene.call('third', amount)]
    const ends: SliceEnds = {
      draws: [second, third].map((each) => ({ slice, ...each })),
      returns: [scene.rest(slice, units * (calls - 2))],
    }
    await store.finish(
      [first, second, third].map((each) => endOf(account, each, 6n)),
      ends,
    )
    assert.deepEqual(await scene.state(), { balance: -18n, held: 0n, units: -3 * units, places: 0 })
    const { items = [] } = (await store.ledger.entries?.(account, { limit: 10 })) ?? {}
    assert.ok(items.every(({ overage }) => overage === 0n))
  })

  test('end once, in whichever order and how often ever the store hears of it', async (store, other) => {
    const scene = await scened(store)
    const { account } = scene
    const { slice, calls, first } = await drawn(store, scene)
    const [second, third] = [scene.call('second', amount), scene.call('third', amount)]
    const draws = [second, third].map((each) => ({ slice, ...each }))
    const returns = [scene.rest(slice, 0)]
    const used = -units * (calls + 1)
    await store.finish([endOf(account, second, 6n)], { draws, returns })
    await race(4, [store, other], (each) => each.finish([endOf(account, second, 6n)], { draws, returns }))
    await other.finish([], { draws: [...draws, { slice, ...scene.call('late', amount) }], returns })
    assert.deepEqual(await scene.state(), { balance: -26n, held: 20n, units: used, places: -2 })
    await store.finish(
      [first, third].map((each) => endOf(account, each, 6n)),
      { draws, returns },
    )
    await other.finish([], { draws, returns })
    assert.deepEqual(await scene.state(), { balance: -18n, held: 0n, units: used, places: 0 })
  })

  test('of a process that has died go back with their lease, and cover nothing afterwards', (store) =>
    withLease(async (leaseMs, expire) => {
      const scene = await scened(store)
      const { slice, calls } = await drawn(store, scene, 1, leaseMs)
      assert.equal((await store.ledger.account(scene.account))?.held, BigInt(calls + 1) * amount)
      await expire()
      // Places may be missing for a second.
      const money = async () => {
        const { balance, held } = await scene.state()
        return { balance, held }
      }
      assert.deepEqual(await money(), { balance: 0n, held: 0n })
      const late = scene.call('late', amount)
      const ends: SliceEnds = { draws: [{ slice, ...late }], returns: [scene.rest(slice, 0)] }
      await store.finish([endOf(scene.account, late, 6n)], ends)
      assert.deepEqual(await money(), { balance: -6n, held: 0n })
      const { items = [] } = (await store.ledger.entries?.(scene.account, { limit: 1 })) ?? {}
      assert.ok(items.every(({ overage }) => overage === 6n))
    }))
}

/** Admits a call with a cap that differs from that of the scene, and draws a slice if there is plenty. */
async function drawnWith(store: AdmissionStore, more: Partial<CapClaim>, ms: number = 1) {
  const scene = await sceneOf(store, true)
  const { claim, hold } = scene.call('first', amount)
  const caps = [{ ...(hold.caps as [CapClaim])[0], ...more }]
  await store.ledger.caps?.read(caps)
  const verdict = await store.admit(claim, { ...hold, caps }, { id: sliceId(), calls: 8, ms })
  assert.equal(verdict.hold?.outcome, 'held')
  const [state] = (await store.ledger.caps?.read(caps)) ?? []
  assert.equal(state?.ahead ?? 0n, BigInt(verdict.ahead ?? 0))
  return verdict
}

function testCaps(suite: Suite<AdmissionStore>): void {
  const test = testOf(suite, true)

  test('tell how many calls a cap counts in advance', async (store) => {
    const { ahead = 0, hold } = await drawnWith(store, {})
    assert.ok(ahead >= 3)
    assert.equal(hold?.caps?.[0]?.held.calls, 1n, 'the verdict on a call is without the slice')
  })

  test('are not drawn where little of a cap is left', async (store) => {
    for (const limits of [{ money: 15n * amount }, { tokens: 15n * tokens }, { calls: 15n }])
      assert.equal((await drawnWith(store, { limits })).ahead ?? 0, 0)
  })

  test('are not drawn if the period of a cap may end before', async (store) => {
    const [start, end] = [Date.now() - 60_000, Date.now() + 60_000]
    assert.equal((await drawnWith(store, { periods: { boundaries: [start, end] } }, 120_000)).ahead ?? 0, 0)
    assert.equal((await drawnWith(store, { periods: { grainMs: 1_000, rollingMs: 60_000 } }, 1_500)).ahead ?? 0, 0)
  })

  test('count in the period in which they were drawn, though it has ended and a limit was lowered', async (store) => {
    const scene = await sceneOf(store, true)
    const { account } = scene
    const [grainMs, rollingMs] = [200, 60_000]
    const caps = [
      { ...capOf(account), window: 'rolling', periods: { grainMs, rollingMs }, limits: { money: plenty.money } },
    ]
    const call = (name: string) => {
      const { claim, hold } = scene.call(name, amount)
      return { claim, hold: { ...hold, caps } }
    }
    const [first, second, slice] = [call('first'), call('second'), sliceId()]
    const { ahead = 0, hold } = await store.admit(first.claim, first.hold, { id: slice, calls: 8, ms: 0 })
    assert.ok(ahead >= 3)
    await suite.wait(2 * grainMs)
    await store.ledger.caps?.override({ name: capOf(account).name, limits: { money: 0n } })
    const state = async () => {
      const [{ held, ahead: more = 0n, resetsAt } = assert.fail()] = (await store.ledger.caps?.read(caps)) ?? []
      return { calls: held.calls, ahead: more, since: resetsAt - rollingMs }
    }
    const since = hold?.caps?.[0]?.end
    const all = BigInt(ahead)
    assert.deepEqual(await state(), { calls: all + 1n, ahead: all, since })
    await store.finish([], { draws: [{ slice, ...second }], returns: [] })
    assert.deepEqual(await state(), { calls: all + 1n, ahead: all - 1n, since })
    const rest = scene.rest(slice, units * (ahead - 1))
    await store.finish([endOf(account, first, undefined)], { draws: [], returns: [rest] })
    assert.deepEqual(await state(), { calls: 1n, ahead: 0n, since })
    await store.finish([endOf(account, second, undefined)])
    assert.equal((await state()).calls, 0n)
  })
}

import assert from 'node:assert/strict'
import { slicePrefix, type AdmissionStore } from '../admission/contract.ts'
import { endOf, plenty, sceneOf } from './admission-scene.ts'
import { fresh, race, suiteOf, type StoreKitOptions, type TestFunction } from './kit.ts'
import { testSlices } from './admission-slices.ts'

/**
 * Registers one test for each requirement of the `AdmissionStore` contract, and of slices if the store draws any. Its limits and
 * its ledger have suites of their own.
 *
 * @param factory Opens the store of one test. It need not be empty: every test uses accounts and limits of its own.
 * @example
 * ```ts
 * testAdmissionStore(test, () => myStorage().admission)
 * ```
 */
export function testAdmissionStore(
  test: TestFunction,
  factory: () => Promise<AdmissionStore> | AdmissionStore,
  options: StoreKitOptions<AdmissionStore> = {},
): void {
  const suite = suiteOf<AdmissionStore & { close?(): void }>('admission store', test, factory, options)
  const { it } = suite

  it('draws from the limits and holds, in one step', async (store, other) => {
    const scene = await sceneOf(store)
    const { claim, hold } = scene.call('call', 10n)
    const { limits, hold: held, ahead = 0 } = await other.admit(claim, hold)
    assert.deepEqual([limits.admitted, limits.free, held?.outcome, ahead], [true, [plenty.places - 1], 'held', 0])
    assert.deepEqual(await scene.state(), { balance: -10n, held: 10n, units: -2, places: -1 })
  })

  it('draws nothing if the balance is too small, and holds nothing if a limit is reached', async (store) => {
    const scene = await sceneOf(store)
    const dear = scene.call('dear', plenty.money + 1n)
    assert.equal((await store.admit(dear.claim, dear.hold)).hold?.outcome, 'insufficient')
    const many = scene.call('many', 10n, plenty.units + 1)
    const { limits, hold } = await store.admit(many.claim, many.hold)
    assert.deepEqual([limits.admitted, hold], [false, undefined])
    assert.deepEqual(await scene.state(), { balance: 0n, held: 0n, units: 0, places: 0 })
  })

  it('ends calls once, however often it is told', async (store, other) => {
    const scene = await sceneOf(store)
    const [first, second] = [scene.call('first', 10n), scene.call('second', 10n)]
    for (const { claim, hold } of [first, second]) await store.admit(claim, hold)
    const endings = [endOf(scene.account, first, 4n), endOf(scene.account, second, undefined)]
    await other.finish(endings)
    await store.finish(endings)
    assert.deepEqual(await scene.state(), { balance: -4n, held: 0n, units: -4, places: 0 })
  })

  it('gives the last money to one of several processes', async (store, other) => {
    const scene = await sceneOf(store)
    const outcomes = await race(6, [store, other], async (each, index) => {
      const { claim, hold } = scene.call(`call ${index}`, plenty.money)
      return (await each.admit(claim, hold)).hold?.outcome
    })
    assert.equal(outcomes.filter((outcome) => outcome === 'held').length, 1)
    assert.equal(outcomes.filter((outcome) => outcome === 'insufficient').length, 5)
  })

  it('ignores a slice that it does not draw', async (store) => {
    const scene = await sceneOf(store)
    const { claim, hold } = scene.call('call', plenty.money)
    const verdict = await store.admit(claim, hold, { id: fresh(slicePrefix.trim()), calls: 8, ms: 1 })
    assert.deepEqual([verdict.hold?.outcome, verdict.ahead ?? 0], ['held', 0])
    assert.deepEqual(await scene.state(), { balance: -plenty.money, held: plenty.money, units: -2, places: -1 })
  })

  testSlices(suite)
}

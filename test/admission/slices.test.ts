/** Calls that are admitted by what their process has drawn in advance. */
import { expect, test } from 'vitest'
import type { AdmissionStore } from '../../adapters/stores/index.ts'
import { describeOnPooled, type PooledDatabase } from '../pooled-databases.ts'
import { fleet, most } from './fleet.ts'

/** The same database, which counts the calls that ask it for admission. */
function counting(connect: () => PooledDatabase) {
  const { open, clear } = connect()
  const asked = { calls: 0 }
  const counted = () => {
    const { admission, ...storage } = open()
    const admit: AdmissionStore['admit'] = (...given) => {
      asked.calls++
      return admission.admit(...given)
    }
    return { ...storage, admission: { ...admission, admit } }
  }
  return { asked, connect: () => ({ open: counted, clear }) }
}

describeOnPooled('on %s, calls that follow each other closely', (connect) => {
  test('ask the database seldom, and leave nothing held', async () => {
    const { asked, connect: counted } = counting(connect)
    const { gateways, fund, account, call } = await fleet(counted, 1_000)
    await fund(10_000_000)
    for (let made = 0; made < 60; made++) expect(await call(gateways[0])).toBe(200)
    expect(asked.calls).toBeLessThan(25)
    await expect.poll(account, { timeout: 5_000 }).toEqual({ balance: 10_000_000 - 60 * 30, held: 0 })
  })

  test('ask the database seldom with caps, too, and leave nothing held for these', async () => {
    const { asked, connect: counted } = counting(connect)
    const { gateways, fund, call } = await fleet(counted, 1_000, { cap: '10' })
    await fund(10_000_000)
    for (let made = 0; made < 60; made++) expect(await call(gateways[0])).toBe(200)
    expect(asked.calls).toBeLessThan(25)
    const { caps } = gateways[0].admin
    const state = async () => (await caps.list({ account: 'acme', group: 'default' }))[0]
    await expect.poll(state, { timeout: 5_000 }).toMatchObject({ used: { calls: 60 }, held: { calls: 0 } })
  })

  test('each ask the database where nothing may wait', async () => {
    const { asked, connect: counted } = counting(connect)
    const { gateways, fund, call } = await fleet(counted, 0)
    await fund(10_000_000)
    for (let made = 0; made < 20; made++) expect(await call(gateways[0])).toBe(200)
    expect(asked.calls).toBe(20)
  })

  test('leave nothing held by a gateway that is closed', async () => {
    const { gateways, fund, account, call } = await fleet(connect, 1_000)
    await fund(10_000_000)
    for (let made = 0; made < 10; made++) expect(await call(gateways[0])).toBe(200)
    expect((await account()).held).toBeGreaterThan(0)
    await gateways[0].close()
    expect(await account()).toEqual({ balance: 10_000_000 - 10 * 30, held: 0 })
  })

  test('spend all money down to the last call, in whichever process', async () => {
    const { spend } = await fleet(connect, 100, { processes: 6 })
    await spend(40_000)
  })

  test('use up a cap down to the last call, in whichever process', async () => {
    const { spend } = await fleet(connect, 100, { processes: 6, cap: '0.04' })
    await spend(10_000_000, 40_000)
  })

  test('refuse no call for what is held of a cap in advance, even by another process', async () => {
    const { gateways, fund, call } = await fleet(connect, 400, { cap: '1' })
    const [first, second] = gateways
    await fund(10_000_000)
    for (let made = 0; made < 30; made++) expect(await call(first)).toBe(200)
    // Enough for a call only with what the slice of the first process holds, or with what its calls no longer need.
    const limits = { money: ((30 * 30 + most) / 1e6).toFixed(6) }
    await first.admin.caps.override({ account: 'acme', group: 'default', cap: 'month', limits })
    expect(await call(second)).toBe(200)
  })

  test('refuse no call for what is held in advance, even of another process', async () => {
    const { gateways, fund, account, call } = await fleet(connect, 400)
    const [first, second] = gateways
    await fund(1_000_000)
    for (let made = 0; made < 30; made++) expect(await call(first)).toBe(200)
    const { balance } = await account()
    // Enough for a call only with what the slice of the first process holds, or with what its calls no longer need.
    await fund(-balance)
    expect(await call(second)).toBe(200)
  })

  test('are refused within the time of a slice after their money was taken away', async () => {
    const { gateways, fund, account, call } = await fleet(connect, 200)
    await fund(10_000_000)
    for (let made = 0; made < 20; made++) expect(await call(gateways[0])).toBe(200)
    const { balance, held } = await account()
    await fund(-(balance + held))
    const since = performance.now()
    let status = 200
    while (status === 200) status = await call(gateways[0])
    expect(status).toBe(429)
    expect(performance.now() - since).toBeLessThan(2_000)
    expect(await call(gateways[1])).toBe(429)
  })
})

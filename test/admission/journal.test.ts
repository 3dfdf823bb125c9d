import { expect, test } from 'vitest'
import type { Gateway } from '../../src/index.ts'
import { describeOnPooled } from '../pooled-databases.ts'
import { fleet, most } from './fleet.ts'

describeOnPooled('on %s, the charge of a call that has ended', (connect) => {
  test('waits for those of others while there is plenty, and not beyond the end of its process', async () => {
    const { gateways, fund, account, call } = await fleet(connect, 10_000)
    const [first, second] = gateways
    await fund(1_000_000)
    // The first one finds out that the store answers with a promise.
    expect(await call(first)).toBe(200)
    await expect.poll(async () => (await account()).held).toBe(0)
    expect([await call(first), await call(first)]).toEqual([200, 200])
    expect((await account()).held).toBe(2 * most)
    await first.close()
    expect(await account()).toEqual({ balance: 1_000_000 - 90, held: 0 })
    await second.close()
  })

  test('does not wait while the account is short', async () => {
    const { gateways, fund, account, call } = await fleet(connect, 10_000)
    await fund(600)
    for (let made = 0; made < 3; made++) expect(await call(gateways[0])).toBe(200)
    await expect.poll(account).toEqual({ balance: 510, held: 0 })
  })

  test('is known to another process before that refuses for want of money', async () => {
    const { gateways, fund, account, call } = await fleet(connect, 3_000)
    await fund(1_000_000)
    for (let made = 0; made < 3; made++) expect(await call(gateways[0])).toBe(200)
    const { balance, held } = await account()
    expect(held).toBeGreaterThan(100)
    // Too little is left, but for what the calls of the other process no longer need.
    await fund(50 - balance)
    expect(await call(gateways[1])).toBe(200)
  })

  test('is known to another process before that refuses for want of a place', async () => {
    const { gateways, fund, account, call } = await fleet(connect, 3_000, { concurrent: 2 })
    await fund(1_000_000)
    for (let made = 0; made < 4; made++) expect(await call(gateways[made % 2] as Gateway)).toBe(200)
    expect(await Promise.all([call(gateways[1]), call(gateways[1])])).toEqual([200, 200])
    await expect.poll(account, { timeout: 5_000 }).toEqual({ balance: 1_000_000 - 180, held: 0 })
  })

  test('pays for every call that the money suffices for, in whichever process, and for none more', async () => {
    const { spend } = await fleet(connect, 100, { processes: 6 })
    await spend(6_000)
  })

  test('is not waited for by a call that could not be paid with it', async () => {
    const { gateways, fund, call } = await fleet(connect, 10_000)
    await fund(40)
    const since = performance.now()
    expect(await call(gateways[0])).toBe(429)
    expect(performance.now() - since).toBeLessThan(5_000)
  })

  test('can be refunded by another process at once', async () => {
    const { gateways, fund, call, account } = await fleet(connect, 500)
    const [first, second] = gateways
    await fund(1_000_000)
    for (let made = 0; made < 3; made++) expect(await call(first)).toBe(200)
    await expect.poll(async () => (await first.admin.usage.list({ account: 'acme' })).items.length).toBeGreaterThan(0)
    const [{ id } = { id: '' }] = (await first.admin.usage.list({ account: 'acme' })).items
    await second.admin.accounts.refund({ account: 'acme', request: id, reason: 'a test' })
    await expect.poll(account).toEqual({ balance: 1_000_000 - 60, held: 0 })
  })
})

/** Calls that are admitted by what their process has drawn in advance. */
import { describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/index.ts'
import { databases, fleet, most } from './fleet.ts'

/** The same database, which counts the calls that ask it for admission. */
function counting(database: (typeof databases)[0][2]) {
  const { open, clear } = database()
  const asked = { calls: 0 }
  const counted = () => {
    const storage = open()
    const { admission } = storage
    const admit: NonNullable<typeof admission>['admit'] = (...given) => {
      asked.calls++
      return (admission as NonNullable<typeof admission>).admit(...given)
    }
    return { ...storage, admission: { ...(admission as NonNullable<typeof admission>), admit } }
  }
  return { asked, open: () => ({ open: counted, clear }) }
}

describe.each(databases.filter(([, isHere]) => isHere))(
  'on %s, calls that follow each other closely',
  (_, __, database) => {
    test('ask the database seldom, and leave nothing held', async () => {
      const { asked, open } = counting(database)
      const { gateways, fund, account, call } = await fleet(open, 1_000)
      await fund(10_000_000)
      for (let made = 0; made < 60; made++) expect(await call(gateways[0])).toBe(200)
      expect(asked.calls).toBeLessThan(25)
      await expect.poll(account, { timeout: 5_000 }).toEqual({ balance: 10_000_000 - 60 * 30, held: 0 })
    })

    test('each ask the database where nothing may wait', async () => {
      const { asked, open } = counting(database)
      const { gateways, fund, call } = await fleet(open, 0)
      await fund(10_000_000)
      for (let made = 0; made < 20; made++) expect(await call(gateways[0])).toBe(200)
      expect(asked.calls).toBe(20)
    })

    test('leave nothing held by a gateway that is closed', async () => {
      const { gateways, fund, account, call } = await fleet(database, 1_000)
      await fund(10_000_000)
      for (let made = 0; made < 10; made++) expect(await call(gateways[0])).toBe(200)
      expect((await account()).held).toBeGreaterThan(0)
      await gateways[0].close()
      expect(await account()).toEqual({ balance: 10_000_000 - 10 * 30, held: 0 })
    })

    test('spend all money down to the last call, in whichever process', async () => {
      const { gateways, fund, account, call } = await fleet(database, 100, { processes: 6 })
      const funds = 40_000
      await fund(funds)
      let served = 0
      const caller = async (index: number) => {
        for (let refused = 0; refused < 2;) {
          const status = await call(gateways[index % gateways.length] as Gateway)
          expect([200, 429]).toContain(status)
          if (status === 200) served++
          else refused++
        }
      }
      await Promise.all(Array.from({ length: 24 }, (_, index) => caller(index)))
      while ((await call(gateways[served % gateways.length] as Gateway)) === 200) served++
      await Promise.all(gateways.map((gateway) => gateway.close()))
      const { balance, held } = await account()
      expect({ balance, held }).toEqual({ balance: funds - 30 * served, held: 0 })
      expect(balance).toBeGreaterThanOrEqual(0)
      expect(balance).toBeLessThan(most)
    })

    test('refuse no call for what is held in advance, even of another process', async () => {
      const { gateways, fund, account, call } = await fleet(database, 400)
      const [first, second] = gateways
      await fund(1_000_000)
      for (let made = 0; made < 30; made++) expect(await call(first)).toBe(200)
      const { balance } = await account()
      // Enough for a call only with what the slice of the first process holds, or with what its calls no longer need.
      await fund(-balance)
      expect(await call(second)).toBe(200)
    })

    test('are refused within the time of a slice after their money was taken away', async () => {
      const { gateways, fund, account, call } = await fleet(database, 200)
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
  },
)

/** When credits are looked at: by a clock that is set, and although what is stored of one account cannot be read. */
import { expect, test } from 'vitest'
import { memoryLedger } from '../../../src/index.ts'
import { creditUntil, type AskLedger } from '../../../src/money/lots/credits.ts'
import { CreditExpiry } from '../../../src/money/lots/expiry.ts'

const day = 86_400_000

/** A ledger with an account that has `1` until a day from now, for each name. */
async function world(...accounts: readonly string[]) {
  const clock = { now: 1_000 * day }
  const ledger = memoryLedger({ clock: () => clock.now })
  const ask: AskLedger = async (question) => question(ledger as never)
  for (const account of accounts)
    await creditUntil(ask, { account, amount: 1n, reference: `gift ${account}` }, clock.now + day)
  const expiry = new CreditExpiry({ ask, now: () => clock.now })
  const look = async () => {
    expiry.use()
    await expiry.close()
  }
  const balanceOf = async (account: string) => (await ledger.account(account))?.balance
  return { clock, ledger, ask, look, expiry, balanceOf }
}

test('a clock that is set back does not put off the next look at an account', async () => {
  const { clock, ask, expiry } = await world('a')
  const { now } = clock
  clock.now = now + 365 * day
  await ask((ledger) => ledger.open({ id: 'b' }))
  expect(await expiry.renews('b')).toBe(false)
  clock.now = now
  await creditUntil(ask, { account: 'b', amount: 1n, reference: 'b' }, now)
  expect(await expiry.renews('b')).toBe(true)
})

test('a clock that is set back does not put off the next look at all', async () => {
  const { clock, ask, look, balanceOf } = await world('a')
  clock.now += 365 * day
  await look()
  expect(await balanceOf('a')).toBe(0n)
  clock.now -= 365 * day
  await creditUntil(ask, { account: 'late', amount: 1n, reference: 'late' }, clock.now)
  await look()
  expect(await balanceOf('late')).toBe(0n)
})

test('an account whose lots cannot be read keeps no other from its turn', async () => {
  const { clock, ledger, look, balanceOf } = await world('broken', 'whole')
  const { version = 0 } = (await ledger.lots?.read('broken')) ?? {}
  await ledger.lots?.write('broken', { was: version, lots: '{', due: clock.now })
  clock.now += day
  await look()
  expect(await balanceOf('whole')).toBe(0n)
})

/** What is exported by a clock that is set, and although what is stored of one account cannot be read. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { memoryLedger } from '../../../src/index.ts'
import { Exporter } from '../../../src/money/export/exporter.ts'
import type { AskLedger } from '../../../src/money/lots/credits.ts'

const day = 86_400_000

/** An exporter of a ledger with a payment for each account, which no process has mentioned. */
async function world(...accounts: readonly string[]) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const clock = { now: 1_000 * day }
  const ledger = memoryLedger({ clock: () => clock.now })
  const pay = (account: string) => ledger.credit({ account, amount: 1n, reference: account })
  for (const account of accounts) await pay(account)
  const ask: AskLedger = async (question) => question(ledger as never)
  const [sent, failed]: [string[], string[]] = [[], []]
  const exporter = new Exporter({
    ask,
    sink: { send: ({ account }) => void sent.push(account), since: 0 },
    now: () => clock.now,
    failed: (account) => failed.push(account),
  })
  onTestFinished(async () => {
    vi.useRealTimers()
    await exporter.close()
  })
  /** A round, `ms` milliseconds later. */
  const later = async (ms: number) => {
    clock.now += ms
    await vi.advanceTimersByTimeAsync(60_000)
  }
  return { clock, ledger, pay, sent, failed, later }
}

test('a clock that is set back does not put off the next look at all accounts', async () => {
  const { clock, pay, sent, later } = await world('a')
  await later(365 * day)
  expect(sent).toEqual(['a'])
  clock.now -= 365 * day
  await pay('b')
  await later(10_000)
  expect(sent).toEqual(['a', 'b'])
})

test('an account whose lots cannot be read is reported, and keeps no other from its turn', async () => {
  const { ledger, sent, failed, later } = await world('broken', 'whole')
  const { version = 0 } = (await ledger.lots?.read('broken')) ?? {}
  await ledger.lots?.write('broken', { was: version, lots: '{' })
  await later(10_000)
  expect(sent).toEqual(['whole'])
  expect(failed).toContain('broken')
})

test('an entry that was booked by a clock far ahead does not hold up those after it', async () => {
  const { clock, pay, sent, later } = await world()
  clock.now += 365 * day
  await pay('a')
  clock.now -= 365 * day
  await later(10_000)
  expect(sent).toEqual(['a'])
})

test('a claim by a clock far ahead is not waited for', async () => {
  const { clock, ledger, sent, later } = await world('a')
  const claim = { done: 0, to: 1, until: clock.now + 365 * day }
  const lots = JSON.stringify({ settled: '0', lots: [], exported: { export: claim } })
  await ledger.lots?.write('a', { was: 0, lots })
  await later(10_000)
  expect(sent).toEqual(['a'])
})

test('a batch of which nothing is left, since its charges were replaced by their sum, does not hold up the next', async () => {
  const { ledger, sent, later } = await world('a')
  for (const id of ['one', 'two']) await ledger.settle({ id, account: 'a', amount: 1n })
  const claim = { done: 1, to: 2, until: 0 }
  const lots = JSON.stringify({ settled: '0', lots: [], exported: { export: claim } })
  await ledger.lots?.write('a', { was: 0, lots })
  // Replaces the first charge.
  expect(await ledger.compact?.('a', Infinity, 1)).toBe(1)
  await later(10_000)
  expect(sent).toEqual(['a'])
})

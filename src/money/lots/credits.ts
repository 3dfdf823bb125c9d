/** Credits that expire. A step that a crash interrupts is done again, by any process, with the same references. */
import { invalid } from '../../errors.ts'
import { periodStart, periodsAround } from '../../records/calendar.ts'
import type { Guard } from '../../records/guard.ts'
import type { Credit, CreditVerdict, Ledger } from '../ledger/contract.ts'
import type { LedgerLots, LotState } from './contract.ts'
import { allotmentOf, lotsOf, spent, withLot, type Allowance, type Lot, type Lots } from './lots.ts'

/** Calls a ledger that has lots. */
export type AskLedger = <T>(question: (ledger: Ledger & { readonly lots: LedgerLots }) => Promise<T> | T) => Promise<T>

/** Calls a ledger through its guard. Undefined if it has no lots. */
export function askingLots(ledger: Ledger | undefined, guard: Guard): AskLedger | undefined {
  const { lots } = ledger ?? {}
  if (ledger === undefined || lots === undefined) return undefined
  // Not a copy: methods of a class are not own properties.
  return async (question) => guard.call(() => question(ledger as Ledger & { readonly lots: LedgerLots }))
}

/** Credits of an account that have not expired, and so about 40 kB of text. */
const mostLots = 200

interface Known {
  readonly lots: Lots
  readonly version: number
}

/** Adds a credit of which what is left at a time expires. */
export async function creditUntil(ask: AskLedger, credit: Credit, expiresAt: number): Promise<CreditVerdict> {
  const { account, amount: left, reference } = credit
  for (;;) {
    const { lots, version } = await known(ask, account)
    if (lots.lots.length >= mostLots) throw invalid('The account has too many credits that expire.')
    const allotment = allotmentOf(withLot(lots, { reference, left, expiresAt }), version)
    const verdict = await ask((ledger) => ledger.credit({ ...credit, allotment }))
    if (verdict.outcome !== 'changed') return verdict
  }
}

/**
 * Makes a credit in each period from the current one on, of which what is left expires at its end. The last credit of an earlier
 * allowance of the account stays until its end. With the reference of the current one, only the next credits change.
 */
export async function allow(ask: AskLedger, account: string, allowance: Allowance, now: number): Promise<void> {
  for (;;) {
    const found = await known(ask, account)
    const current = found.lots.lots.find((lot) => lot.allowance !== undefined)
    if (current === undefined && allowance.amount === 0n) return
    const isSame = current?.allowance?.reference === allowance.reference
    const kept = allowance.amount > 0n && isSame && { allowance }
    const lots = found.lots.lots.map(({ allowance: earlier, ...lot }) => (earlier && kept ? { ...lot, ...kept } : lot))
    const before = { ...found, lots: { ...found.lots, lots } }
    const isDone =
      allowance.amount === 0n || isSame
        ? await write(ask, account, before)
        : await renew(ask, account, allowance, now, before)
    if (isDone) return
  }
}

/** Stores the lots as `change` makes them of the current ones. Returns false if it makes none. The account exists. */
export async function changeLots(
  ask: AskLedger,
  account: string,
  change: (lots: Lots) => Lots | undefined,
): Promise<boolean> {
  for (;;) {
    const { lots: before, version } = await known(ask, account)
    const lots = change(before)
    if (lots === undefined) return false
    if (await write(ask, account, { lots, version })) return true
  }
}

/** Takes back what is left of credits that have expired, and makes those of allowances. Returns the lots of the account. */
export async function expire(ask: AskLedger, account: string, now: number): Promise<Lots> {
  const done = new Set<string>()
  for (;;) {
    const { lots, version } = await known(ask, account)
    const index = lots.lots.findIndex((lot) => lot.expiresAt <= now && !done.has(lot.reference))
    const lot = lots.lots[index]
    if (lot === undefined) return lots
    const { reference, left, taken = 0, expiresAt, allowance } = lot
    const sum = lots.lots.slice(0, index + 1).reduce((before, each) => before + each.left, lots.settled)
    const booked = { account, reference: `expiry:${reference}:${taken}`, note: `expiry of ${reference}` }
    // Also if nothing is left, because a part may have been taken before.
    const taking = left > 0n ? { amount: -left, spentTo: sum } : { amount: -1n, spentTo: 0n }
    const { amount = 0n } = await ask((ledger) => ledger.credit({ ...booked, ...taking }))
    const after = (await ask((ledger) => ledger.lots.read(account))) as LotState
    if (after.version !== version) continue
    const rest = { reference, left: left + amount, expiresAt, taken: amount === 0n ? taken : taken + 1 }
    const current = spent({ ...lots, lots: lots.lots.with(index, rest) }, after.settled)
    // What open holds have is taken back when they have ended. Of an account without money there is nothing to take.
    const isOver = (current.lots[index] as Lot).left === 0n || (after.held === 0n && after.balance <= 0n)
    const others = current.lots.filter((each) => each.reference !== reference)
    const before = { lots: isOver ? { ...current, lots: others } : current, version }
    const isWritten = allowance ? await renew(ask, account, allowance, now, before) : await write(ask, account, before)
    if (isWritten && after.held > 0n) done.add(reference)
  }
}

/** Makes the credit of the current period. Returns false if the lots are others by now. */
async function renew(
  ask: AskLedger,
  account: string,
  allowance: Allowance,
  now: number,
  { lots, version }: Known,
): Promise<boolean> {
  const { period, timeZone, amount } = allowance
  const start = periodStart(period, now, { timeZone })
  const expiresAt = periodsAround(period, now, { timeZone }).find((each) => each > now) as number
  const reference = `${allowance.reference}:${account}:${period}:${new Date(start).toISOString()}`
  const lot: Lot = { reference, left: amount, expiresAt, allowance }
  const allotment = allotmentOf(withLot(lots, lot), version)
  const { outcome } = await ask((ledger) => ledger.credit({ account, amount, reference, allotment }))
  if (outcome === 'credited' || outcome === 'changed') return outcome === 'credited'
  // It was made before, by an allowance that has ended since.
  await ask((ledger) => ledger.open({ id: account }))
  const isKnown = lots.lots.some((each) => each.reference === reference)
  const others = lots.lots.map((each) => (each.reference === reference ? { ...each, allowance } : each))
  return write(ask, account, {
    lots: isKnown ? { ...lots, lots: others } : withLot(lots, { ...lot, left: 0n }),
    version,
  })
}

function write(ask: AskLedger, account: string, { lots, version }: Known): Promise<boolean> {
  return ask((ledger) => ledger.lots.write(account, allotmentOf(lots, version)))
}

async function known(ask: AskLedger, account: string): Promise<Known> {
  const state = await ask((ledger) => ledger.lots.read(account))
  if (state === undefined) return { lots: { settled: 0n, lots: [] }, version: 0 }
  return { lots: lotsOf(state), version: state.version }
}

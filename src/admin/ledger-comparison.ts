import { formatMoney } from '../money/money.ts'
import { invalid } from '../errors.ts'
import { strict } from '../records/rules.ts'
import { requireMethod, requireValid } from './check.ts'
import { id, time } from './questions.ts'
import { allItems } from '../records/page.ts'
import type { AdminServices } from './services.ts'
import type { TimeRange } from './time-range.ts'

/** The period in which books and usage of an account are compared. */
export interface ComparisonQuestion extends TimeRange {
  /** The account. */
  readonly account: string
}

/** A request of which the ledger and the usage record do not agree. */
export interface Difference {
  /**
   * `unrecorded`: charged, but there is no usage record. `uncharged`: the record has a cost, but the ledger has no charge.
   * `amount`: both exist, with different amounts.
   */
  readonly kind: 'unrecorded' | 'uncharged' | 'amount'
  /** The id of the request. */
  readonly id: string
  /** The amount that the ledger has charged, as a decimal string. Absent if there is no charge. */
  readonly charged?: string
  /** The cost in the usage record, as a decimal string. Absent if there is no record. */
  readonly recorded?: string
}

interface LedgerCharge {
  readonly amount: bigint
  readonly at: number
}

/** A video is charged up to a day after it was submitted. */
const longestMs = 26 * 3_600_000

const rule = strict({ account: id, from: time, to: time })

/** Milliseconds by which the times of entries may differ from their order: processes have clocks of their own. */
export const disorderMs = 60_000

/** Compares ledger and usage store. */
export async function* differences(
  { ledger, usage }: Pick<AdminServices, 'ledger' | 'usage'>,
  asked: ComparisonQuestion,
): AsyncGenerator<Difference, void> {
  requireValid(rule, asked)
  const { account, from, to } = asked
  const charges = await chargesIn(ledger, account, from, to + longestMs)
  const seen = new Set<string>()
  const question = { account, from: from - longestMs, to }
  for await (const { id, cost, startedAt } of allItems((page) =>
    usage.page((store) => store.list({ ...question, ...page })),
  )) {
    const charge = charges.get(id)
    seen.add(id)
    if (charge !== undefined && charge.amount !== cost) yield differenceOf(id, charge.amount, cost)
    if (charge === undefined && cost > 0n && startedAt >= from) yield differenceOf(id, undefined, cost)
  }
  for (const [id, { amount, at }] of charges) {
    if (seen.has(id) || at >= to || amount === 0n) continue
    // Under another account if the account was erased.
    const found = await usage.page((store) => store.find?.(id))
    if (found?.cost !== amount) yield differenceOf(id, amount, found?.cost)
  }
}

/** The charges that were booked in a period, by the id of their usage record. */
async function chargesIn(ledger: AdminServices['ledger'], account: string, from: number, to: number) {
  const charges = new Map<string, LedgerCharge>()
  for await (const { kind, reference, amount, at } of allItems((page) =>
    ledger.page((store) => requireMethod(store, 'entries', 'entries').entries(account, page)),
  )) {
    if (at < from - disorderMs) break
    if (at < from) continue
    if (kind === 'opening') throw invalid('The charges of this period are compacted. Choose a later one.', 'from')
    if (kind === 'settle' && at < to) charges.set(reference, { amount: -amount, at })
  }
  return charges
}

function differenceOf(id: string, charged: bigint | undefined, recorded: bigint | undefined): Difference {
  const kind = charged === undefined ? 'uncharged' : recorded === undefined ? 'unrecorded' : 'amount'
  return {
    kind,
    id,
    ...(charged !== undefined && { charged: formatMoney(charged) }),
    ...(recorded !== undefined && { recorded: formatMoney(recorded) }),
  }
}

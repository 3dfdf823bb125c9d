import type { Ledger } from '../money/ledger/contract.ts'
import { formatMoney } from '../money/money.ts'
import { invalid } from '../errors.ts'
import type { Guard } from '../records/guard.ts'
import { requireMethod, requireId, requireValid, rules } from './check.ts'
import { allItems } from '../records/page.ts'
import type { AdminServices } from './services.ts'

/** The period in which books and usage of an account are compared. */
export interface ComparisonQuestion {
  /** The account. */
  readonly account: string
  /** Start of the period, inclusive. Milliseconds since the epoch. */
  readonly from: number
  /** End of the period, exclusive. Milliseconds since the epoch. */
  readonly to: number
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

/** Compares ledger and usage store. */
export class Comparison {
  readonly #services: AdminServices
  readonly #ledgerGuard: Guard
  readonly #usageGuard: Guard

  constructor(services: AdminServices) {
    this.#services = services
    this.#ledgerGuard = services.pageGuard('the ledger')
    this.#usageGuard = services.pageGuard('the usage store')
  }

  async *differences({ account, from, to }: ComparisonQuestion): AsyncGenerator<Difference, void> {
    requireId(account, 'account')
    for (const [name, time] of Object.entries({ from, to })) requireValid(rules.instant, time, name)
    const { ledger, usage } = this.#services
    if (ledger === undefined) throw invalid('A comparison needs the option "billing".')
    if (usage === undefined) throw invalid('Usage is not recorded: set the option "usage" or "storage".')
    const charges = await this.#charges(ledger, account, from, to + longestMs)
    const seen = new Set<string>()
    const question = { account, from: from - longestMs, to }
    for await (const { id, cost, startedAt } of allItems((page) =>
      this.#usageGuard.call(() => usage.list({ ...question, ...page })),
    )) {
      const charge = charges.get(id)
      seen.add(id)
      if (charge !== undefined && charge.amount !== cost) yield differenceOf(id, charge.amount, cost)
      if (charge === undefined && cost > 0n && startedAt >= from) yield differenceOf(id, undefined, cost)
    }
    for (const [id, { amount, at }] of charges) {
      if (seen.has(id) || at >= to || amount === 0n) continue
      // Under another account if the account was erased.
      const found = await this.#usageGuard.call(() => usage.find?.(id))
      if (found?.cost !== amount) yield differenceOf(id, amount, found?.cost)
    }
  }

  /** The charges that were booked in a period, by the id of their usage record. */
  async #charges(ledger: Ledger, account: string, from: number, to: number) {
    const charges = new Map<string, LedgerCharge>()
    const store = requireMethod(ledger, 'entries', 'entries')
    for await (const { kind, reference, amount, at } of allItems((page) =>
      this.#ledgerGuard.call(() => store.entries(account, page)),
    )) {
      if (at < from) break
      if (kind === 'opening') throw invalid('The charges of this period are compacted. Choose a later one.', 'from')
      if (kind === 'settle' && at < to) charges.set(reference, { amount: -amount, at })
    }
    return charges
  }
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

/** What an account paid and was charged in a calendar month. */
import { GatewayError, invalid } from '../errors.ts'
import type { LedgerEntry } from '../money/ledger/contract.ts'
import { formatMoney, parseMoney } from '../money/money.ts'
import { allItems, type PageRequest } from '../records/page.ts'
import { strict } from '../records/rules.ts'
import { entryView, type EntryView } from './account-view.ts'
import { requireMethod, requireValid } from './check.ts'
import { monthOf, type InvoiceItem } from './invoice.ts'
import { disorderMs } from './ledger-comparison.ts'
import { id, month, timeZone } from './questions.ts'
import type { AdminServices } from './services.ts'
import type { InvoiceQuestion } from './usage.ts'

/** Selects a month of an account. */
export interface StatementQuestion {
  /** The account. */
  readonly account: string
  /** A calendar month, such as `2030-04`. */
  readonly month: string
  /** Time zone in which the month begins and ends, by its IANA name. Default UTC. */
  readonly timeZone?: string
}

/** A month of an account: `opening`, the amounts of `credits`, less all charges, is `closing`. Amounts are decimal strings. */
export interface Statement {
  /** The account. */
  readonly account: string
  /** Start of the month, inclusive. Milliseconds since the epoch. */
  readonly from: number
  /** Its end, exclusive. Milliseconds since the epoch. */
  readonly to: number
  /** The balance at the start, with what was held. */
  readonly opening: string
  /** Payments, corrections, refunds and expiries, oldest first. */
  readonly credits: readonly EntryView[]
  /** The requests that started in the month, by model. Empty if usage is not recorded. */
  readonly charges: readonly InvoiceItem[]
  /** The sum of `charges`. */
  readonly charged: string
  /**
   * What else was charged in the month, less what of `charges` was not: requests that started in one month and were charged in the
   * next, and those without a record.
   */
  readonly otherCharges: string
  /** The balance at the end, with what was held; of a month that is not over, the current one. */
  readonly closing: string
}

const rule = strict({ account: id, month, timeZone })

/** The most entries that are read: those from the month on. */
const mostEntries = 500_000

/** `invoice`: see `UsageAdmin`. */
export async function statementOf(
  { ledger, usage }: Pick<AdminServices, 'ledger' | 'usage'>,
  question: StatementQuestion,
  invoice: (question: InvoiceQuestion) => Promise<readonly InvoiceItem[]>,
): Promise<Statement> {
  requireValid(rule, question)
  const { account, month, timeZone = 'UTC' } = question
  const { from, to } = monthOf(month, timeZone)
  const entriesAt = (page: PageRequest) =>
    ledger.page((store) => requireMethod(store, 'entries', 'ledger entries').entries(account, page))
  const current = await totalOf(ledger, account, entriesAt)
  let [closing, credited, charged, rest] = [current.total, 0n, 0n, current.total]
  const credits: LedgerEntry[] = []
  let read = 0
  let isWhole = true
  for await (const entry of allItems(entriesAt)) {
    const { number, at, amount, kind } = entry
    if (number > current.newest) continue
    isWhole = at >= from - disorderMs
    if (!isWhole) break
    if (++read > mostEntries)
      throw invalid(`The account has more than ${mostEntries} ledger entries since the start of this month.`, 'month')
    rest -= amount
    if (at >= to) closing -= amount
    else if (at < from) continue
    else if (kind === 'credit') {
      credits.push(entry)
      credited += amount
    } else charged -= amount
  }
  // A store may keep a number of entries only.
  if (isWhole && rest !== 0n) throw invalid('The ledger no longer has the entries of this month.', 'month')
  const charges = usage.store === undefined ? [] : await invoice({ account, month, timeZone })
  const recorded = charges.reduce((sum, { cost }) => sum + parseMoney(cost), 0n)
  return {
    account,
    from,
    to,
    opening: formatMoney(closing - credited + charged),
    credits: credits.toReversed().map(entryView),
    charges,
    charged: formatMoney(recorded),
    otherCharges: formatMoney(charged - recorded),
    closing: formatMoney(closing),
  }
}

/** The balance of an account with what is held, and the entry after which it was read. */
async function totalOf(
  ledger: AdminServices['ledger'],
  account: string,
  entriesAt: (page: PageRequest) => Promise<{ readonly items: readonly LedgerEntry[] }>,
): Promise<{ readonly total: bigint; readonly newest: number }> {
  const newestOf = async () => (await entriesAt({ limit: 1 })).items[0]?.number ?? 0
  for (let tries = 0, newest = await newestOf(); tries < 20; tries++) {
    const found = await ledger.ask((store) => store.account(account))
    if (found === undefined) throw new GatewayError('not_found', { message: 'No such account.', param: 'account' })
    const after = await newestOf()
    if (after === newest) return { total: found.balance + found.held, newest }
    newest = after
  }
  throw new GatewayError('service_unavailable', {
    message: 'The account is charged too often. Try again.',
    retryAfterMs: 1_000,
  })
}

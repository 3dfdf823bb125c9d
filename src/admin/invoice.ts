import { periodsAround } from '../records/calendar.ts'
import { decimal, formatMoney, parseDecimal } from '../money/money.ts'
import { multiplierDigits, rateDigits } from '../money/prices/rate.ts'
import type { UsageLine, UsageLineSum, UsageSummary } from '../observe/usage/contract.ts'

/** A line of an invoice: all usage at one price. */
export interface InvoiceLine extends UsageLine {
  /** `quantity` / `per` × `price`, as an exact decimal string. */
  readonly amount: string
}

/** What an account used of one model. */
export interface InvoiceItem {
  /** The account. */
  readonly account: string
  /** The model. */
  readonly model: string
  /** Number of requests. */
  readonly requests: number
  /** What was charged, as a decimal string. The amounts of `lines` and `rest` add up to it exactly. */
  readonly cost: string
  /** The lines, ordered by item and price. Empty unless records keep lines, by the option `usage.lines`. */
  readonly lines: readonly InvoiceLine[]
  /** What the lines do not say, as a decimal string: rounding, and requests that were recorded without lines. */
  readonly rest: string
}

/** Decimal places of the prices of lines, and of amounts of a millionth of them. */
const priceDigits = rateDigits + multiplierDigits
const digits = priceDigits + 6

/** Joins the sums and the lines of the same period. */
export function itemsOf(sums: readonly UsageSummary[], lines: readonly UsageLineSum[]): InvoiceItem[] {
  const byItem = Map.groupBy(lines, ({ account, model }) => JSON.stringify([account, model]))
  return sums.map(({ account = '', model = '', requests, cost }) => {
    let rest = cost * 10n ** BigInt(digits - 6)
    const own = (byItem.get(JSON.stringify([account, model])) ?? []).map(({ item, quantity, per, price }) => {
      const parts = BigInt(quantity) * parseDecimal(price, priceDigits) * 1_000_000n
      const amount = (parts + BigInt(per) - 1n) / BigInt(per)
      rest -= amount
      return { item, quantity, per, price, amount: decimal(amount, digits) }
    })
    return { account, model, requests, cost: formatMoney(cost), lines: own, rest: decimal(rest, digits) }
  })
}

/** The first moment of a month such as `2030-04` in a time zone, and that of the next month. */
export function monthOf(month: string, timeZone: string): { readonly from: number; readonly to: number } {
  const [year = 0, number = 0] = month.split('-').map(Number)
  const [, from = 0, to = 0] = periodsAround('month', Date.UTC(year, number - 1, 15), { timeZone })
  return { from, to }
}

import type { Notice } from '../../money/caps/contract.ts'
import type { BalanceNotice, CapNotice } from '../alert-thresholds.ts'
import { storedObject } from '../../records/unreadable.ts'
import { formatMoney } from '../../money/money.ts'

interface AnyAlert {
  /** The same for each delivery of an alert, so that repetitions can be recognised. */
  readonly id: string
  /** The account whose call caused the alert. */
  readonly account: string
  /** The id of that call, as in `x-request-id`. Of a video: of the request that submitted it. */
  readonly request: string
  /** When the call was settled. Milliseconds since the epoch. */
  readonly createdAt: number
}

/** What is used of a cap has reached a threshold. */
export interface CapAlert extends AnyAlert, Omit<CapNotice, 'start' | 'end'> {
  /** The limit that was in force for the call. An amount of money is a decimal string. */
  readonly limit: string
  /** What is used, with the call: at least `percent` of `limit`. What open calls hold is not included. */
  readonly used: string
  /** The start of the period in which the call counts. Milliseconds since the epoch. */
  readonly periodStart: number
  /** The end of that period, of a rolling window the end of the grain. Milliseconds since the epoch. */
  readonly periodEnd: number
}

/** A charge has taken an account below a level of `billing.lowBalance`. */
export interface BalanceAlert extends AnyAlert {
  /** Tells the two kinds of alerts apart. */
  readonly type: 'balance.low'
  /** The level, as a decimal string. */
  readonly level: string
  /** The balance with what open calls hold, as a decimal string. */
  readonly balance: string
}

/** Money is running out, or a cap will soon be reached. Message of the channel `modelhatch:alert`. */
export type Alert = CapAlert | BalanceAlert

/** The alert that a stored notice describes. Throws if it cannot be read. */
export function alertOf({ id, notice, settlement, account, value, at }: Notice): Alert {
  const known = storedObject(notice, `alert ${id}`) as unknown as CapNotice | BalanceNotice
  const common = { id, account, request: settlement, createdAt: at }
  if (known.type === 'balance.low') {
    const { type, level } = known
    return { ...common, type, level: formatMoney(BigInt(level)), balance: formatMoney(value) }
  }
  const { start, end, limit, ...rest } = known
  const text = (amount: bigint) => (known.measure === 'money' ? formatMoney(amount) : String(amount))
  return { ...common, ...rest, limit: text(BigInt(limit)), used: text(value), periodStart: start, periodEnd: end }
}

/** The body of the webhook of an alert, in the form of OpenAI's events. Times are seconds since the epoch. */
export function webhookBody(alert: Alert): string {
  const { id, type, createdAt, ...rest } = alert
  const data: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(rest)) {
    const isTime = name === 'periodStart' || name === 'periodEnd'
    data[name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)] = isTime ? seconds(Number(value)) : value
  }
  return JSON.stringify({ id, object: 'event', created_at: seconds(createdAt), type, data })
}

function seconds(time: number): number {
  return Math.floor(time / 1000)
}

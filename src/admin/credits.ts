/** Credits that expire, as hosts see them. */
import { invalid } from '../errors.ts'
import { allow, expire, type AskLedger } from '../money/lots/credits.ts'
import { formatMoney, parseMoney } from '../money/money.ts'
import * as z from 'zod'
import { storable } from '../records/rules.ts'
import { payment, timeZone, type Shape } from './questions.ts'

/** An amount that an account gets in each period, of which what is left expires at its end. */
export interface AllowanceRequest {
  /** The account that is credited. */
  readonly account: string
  /** A decimal string, such as `'20'`. `'0'` ends the allowance: what is left of its last credit stays until its end. */
  readonly amount: string
  /** Unique id of the plan or order. The same reference changes the amount from the next period on. */
  readonly reference: string
  /** Default `month`. */
  readonly period?: 'day' | 'week' | 'month'
  /** Name of an IANA time zone in which periods begin, at midnight. Default `UTC`. */
  readonly timeZone?: string
}

/** What is left of a credit that expires. */
export interface ExpiringCredit {
  /** That of the credit. Those of an allowance end in the start of their period. */
  readonly reference: string
  /** A decimal string. */
  readonly left: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  /** The allowance that follows it. Absent if none does. */
  readonly allowance?: Required<Omit<AllowanceRequest, 'account'>>
}

/** The form of an allowance. */
export const allowance: Shape<Omit<AllowanceRequest, 'account'>> = {
  amount: payment.amount,
  reference: storable(256).refine((value) => value !== '', 'must not be empty'),
  period: z.enum(['day', 'week', 'month']).optional(),
  timeZone,
}

/** Sets an allowance, and returns what the audit log says of it. */
export async function allowed(ask: AskLedger, request: AllowanceRequest, now: number): Promise<object> {
  const { account, reference, period = 'month', timeZone = 'UTC' } = request
  const amount = amountIn(request.amount)
  if (amount < 0n) throw invalid('An allowance cannot be negative.', 'amount')
  await allow(ask, account, { reference, amount, period, timeZone }, now)
  return { amount: formatMoney(amount), period, timeZone }
}

export async function expiringCredits(ask: AskLedger, account: string, now: number): Promise<ExpiringCredit[]> {
  const { lots } = await expire(ask, account, now)
  const some = lots.filter(({ left, allowance }) => left > 0n || allowance !== undefined)
  return some.map(({ reference, left, expiresAt, allowance }) => ({
    reference,
    left: formatMoney(left),
    expiresAt,
    ...(allowance && { allowance: { ...allowance, amount: formatMoney(allowance.amount) } }),
  }))
}

/** In micro-units. Throws a 400 for an invalid amount. */
export function amountIn(amount: string): bigint {
  try {
    return parseMoney(amount)
  } catch (error) {
    throw invalid((error as Error).message, 'amount', error)
  }
}

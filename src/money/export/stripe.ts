/** Meter events of Stripe: what customers were charged, for invoices that Stripe makes. */
import { requestPlainly } from '../../http/plain-request.ts'
import { callback, checkKnown, secret, text as nonEmpty, type Known } from '../../records/known-options.ts'
import { parseMoney } from '../money.ts'
import type { BillingExport, ExportBatch } from './contract.ts'

/** Options of `stripeMeter`. */
export interface StripeMeterOptions {
  /** Required. A secret or restricted key that may write meter events. */
  readonly apiKey: string
  /** Required. `event_name` of the meter. */
  readonly event: string
  /** Required. The id of Stripe's customer for an account, such as `cus_…`. Undefined: the account is not metered. */
  readonly customer: (account: string) => Promise<string | undefined> | string | undefined
  /** Default `https://api.stripe.com`. */
  readonly baseURL?: string
}

/** Milliseconds that an answer may take. */
const timeoutMs = 8_000

const known: Known<StripeMeterOptions> = {
  apiKey: secret,
  event: { ...nonEmpty, always: true },
  customer: { ...callback, always: true },
  baseURL: nonEmpty,
}

/** What Stripe answers to an event that it has. */
const isThere = /already exists with identifier/i

/**
 * The `send` of a `BillingExport` that reports each batch as one meter event: the sum of its charges in millionths of the currency,
 * under the id of the batch, which Stripe counts once within 24 hours. Payments and refunds are not reported. Throws a `TypeError`
 * that names an invalid option.
 *
 * @example
 * ```ts
 * billing: { currency: 'EUR', export: { since, send: stripeMeter({ apiKey, event: 'llm_usage', customer }) } }
 * ```
 */
export function stripeMeter(options: StripeMeterOptions): BillingExport['send'] {
  const { apiKey, event, customer, baseURL = 'https://api.stripe.com' } = options
  checkKnown('stripeMeter', { ...options, apiKey, event, customer }, known)
  const url = new URL('/v1/billing/meter_events', baseURL)
  return async ({ id, account, entries }: ExportBatch) => {
    const charges = entries.filter(({ kind }) => kind === 'settle')
    const value = charges.reduce((sum, { amount }) => sum - parseMoney(amount), 0n)
    const to = value === 0n ? undefined : await customer(account)
    if (to === undefined) return
    const form = new URLSearchParams({
      event_name: event,
      identifier: id,
      timestamp: String(Math.floor((charges.at(-1)?.at ?? 0) / 1000)),
      'payload[stripe_customer_id]': to,
      'payload[value]': String(value),
    })
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/x-www-form-urlencoded' }
    const body = form.toString()
    const { status, text } = await requestPlainly(url, { method: 'POST', headers, body, timeoutMs })
    if ((status < 200 || status >= 300) && !(status === 400 && isThere.test(text)))
      throw new Error(`Stripe responded with ${status} to a meter event`)
  }
}

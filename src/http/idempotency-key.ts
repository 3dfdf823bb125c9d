/** The `Idempotency-Key` header. */
import { invalid } from '../errors.ts'
import { header, type Exchange } from './exchange.ts'

/** Whether a request has an idempotency key, valid or not. */
export function isKeyed({ headers }: Pick<Exchange, 'headers'>): boolean {
  return headers['idempotency-key'] !== undefined
}

/** The idempotency key of a request; undefined if there is none. Throws 400 for an invalid one. */
export function idempotencyKeyOf(exchange: Pick<Exchange, 'headers'>): string | undefined {
  const key = header(exchange, 'idempotency-key')
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw invalid('The "Idempotency-Key" header must be 1 to 255 visible ASCII characters.')
}

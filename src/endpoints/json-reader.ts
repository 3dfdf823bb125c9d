import type * as z from 'zod'
import { readJson } from '../http/body.ts'
import type { Exchange } from '../http/exchange.ts'
import type { JsonBody } from '../http/json-body.ts'
import type { Sizes } from '../http/sizes.ts'
import { check } from './check.ts'
import type { Order } from './endpoint.ts'
import { jsonOrder } from './order.ts'

interface Rules {
  /** Whether the answer is streamed. Default: if the field `stream` says so. */
  readonly stream?: boolean
  /** See `check`. */
  readonly unread?: readonly string[]
  /** Throws a 400 for what the schema does not say: rules between fields, and fields too long for a schema. */
  readonly more?: (body: JsonBody) => void
}

/** Reads and validates a request. Throws or rejects with 400, 413, 415. */
export type ReadOrder<Request> = (exchange: Exchange, sizes: Sizes) => Order<Request> | Promise<Order<Request>>

/** Reads and validates requests in JSON. Fields that the schema does not know are allowed. */
export function jsonReader<Request>(
  schema: () => z.ZodObject,
  { stream, unread, more }: Rules = {},
): ReadOrder<Request> {
  const orderOf = (body: JsonBody) => {
    check(schema(), body, unread)
    more?.(body)
    return jsonOrder<Request>(body, stream)
  }
  return (exchange, sizes) => {
    const body = readJson(exchange, sizes)
    return body instanceof Promise ? body.then(orderOf) : orderOf(body)
  }
}

/** Validation of requests for decisions. Source of the fields: OpenAI's client library. */
import * as z from 'zod'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { Sizes } from '../../http/sizes.ts'
import type { DecisionRequest } from '../../wire/decisions.ts'
import { check } from '../check.ts'
import type { Order } from '../endpoint.ts'
import { jsonOrder } from '../order.ts'

const question = {
  name: z.string().nullish(),
  instructions: z.union([z.string().min(1), z.array(z.looseObject({ type: z.string() })).min(1)]),
}

const choice = z.looseObject({ value: z.union([z.string(), z.boolean()]), description: z.string().nullish() })
const level = z.looseObject({ label: z.string(), description: z.string().nullish() })

const schema = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), z.array(z.looseObject({})).min(1)]),
  questions: z
    .array(
      z.discriminatedUnion('type', [
        z.looseObject({ type: z.literal('predicate'), ...question }),
        z.looseObject({ type: z.literal('choice'), choices: z.array(choice).min(2), ...question }),
        z.looseObject({ type: z.literal('score'), levels: z.array(level).min(2), ...question }),
      ]),
    )
    .min(1),
})

/** Reads and validates a request for decisions. */
export async function readDecision(exchange: Exchange, sizes: Sizes): Promise<Order<DecisionRequest>> {
  const body = await readJson(exchange, sizes)
  check(schema, body)
  return jsonOrder<DecisionRequest>(body, false)
}

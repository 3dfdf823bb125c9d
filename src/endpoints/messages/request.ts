/** Validation of requests for messages. Unknown fields are allowed. Source of the fields: Anthropic's Messages API. */
import * as z from 'zod'
import { readJson } from '../../http/body.ts'
import { header, type Exchange } from '../../http/exchange.ts'
import type { JsonBody } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import type { Call } from '../../providers/contract.ts'
import type { MessageRequest } from '../../wire/messages.ts'
import { check, verify } from '../check.ts'
import type { Order } from '../endpoint.ts'
import { jsonOrder } from '../order.ts'
import { headersOf } from './headers.ts'
import { lazy } from '../../records/lazy.ts'

const typed = lazy(() => z.looseObject({ type: z.string() }))

const content = lazy(() => z.union([z.string(), z.array(typed())], 'must be a string or an array of content blocks'))

const message = lazy(() => z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: content() }))

const tool = lazy(() =>
  z.looseObject({
    type: z.string().nullish(),
    name: z.string().min(1).optional(),
    input_schema: z.looseObject({}).optional(),
  }),
)

const schema: () => z.ZodObject = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    // With 0, Claude only writes the prompt to its cache.
    max_tokens: z.int().min(0),
    messages: z.array(message()).min(1),
    system: content().nullish(),
    stream: z.boolean().nullish(),
    temperature: z.number().min(0).max(1).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: z.int().min(0).nullish(),
    stop_sequences: z.array(z.string()).nullish(),
    tools: z.array(tool()).nullish(),
    tool_choice: typed().nullish(),
    thinking: typed().nullish(),
    output_config: z.looseObject({ effort: z.string().nullish(), format: typed().nullish() }).nullish(),
    output_format: typed().nullish(),
    metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  }),
)

const countingSchema: () => z.ZodObject = lazy(() => schema().extend({ max_tokens: z.int().min(0).nullish() }))

/** `claude --print`, and sub-agents, answer with the last block that was streamed. */
const claudeCode = 'claude-cli/'

/** Long lists are validated by the vendor, or by `checkLong` before they are translated. */
const unread = ['messages', 'tools']

/** Reads and validates a request for a message. Throws 400, 413, 415. */
export function readMessage(exchange: Exchange, sizes: Sizes): Order<MessageRequest> | Promise<Order<MessageRequest>> {
  const body = readJson(exchange, sizes)
  return body instanceof Promise
    ? body.then((read) => orderFrom(exchange, read, schema()))
    : orderFrom(exchange, body, schema())
}

/** The same for a request to count its tokens, which needs no `max_tokens`. */
export async function readCounting(exchange: Exchange, sizes: Sizes): Promise<Order<MessageRequest>> {
  return orderFrom(exchange, await readJson(exchange, sizes), countingSchema())
}

function orderFrom(exchange: Exchange, body: JsonBody, rules: z.ZodObject): Order<MessageRequest> {
  check(rules, body, unread)
  const readsLastBlock = header(exchange, 'user-agent')?.startsWith(claudeCode) === true
  return Object.assign(jsonOrder<MessageRequest>(body), { clientHeaders: headersOf(exchange), readsLastBlock })
}

/** Validates what `readMessage` leaves to the vendor, for a request that is translated. Throws 400. */
export function checkLong({ field }: Call<MessageRequest>): void {
  for (const name of unread) {
    const value = field(name)
    if (value !== undefined) verify(schema().shape[name] as z.ZodType, value, name)
  }
}

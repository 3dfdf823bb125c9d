/**
 * Validation of requests to the responses endpoint. Unknown fields are allowed. Source of the fields: OpenAI's
 * CreateResponse.
 */
import * as z from 'zod'
import { estimateTokens } from '../../wire/counts.ts'
import { GatewayError, invalid, refusedField } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import type { JsonBody } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import { yieldIfLarge } from '../../providers/yielding.ts'
import type { ResponseRequest, ResponseTool } from '../../wire/responses.ts'
import { check, verify } from '../check.ts'
import type { Order, Reading } from '../endpoint.ts'
import { jsonOrder, overlaid } from '../order.ts'
import { conversationOf, type ResponseConversation } from './history.ts'
import { itemsIn } from './items.ts'
import { ResponseArchive, type Continued } from './archive.ts'
import type { BackgroundJob } from './background-job.ts'
import type { ResponseProgress } from './progress.ts'
import { lazy } from '../../records/lazy.ts'

const part = lazy(() => z.looseObject({ type: z.string() }))

const schema = lazy(() =>
  z.looseObject({
    model: z.string().min(1),
    instructions: z.string().nullish(),
    previous_response_id: z.string().nullish(),
    conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
    store: z.boolean().nullish(),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({}).nullish(),
    background: z.boolean().nullish(),
    max_output_tokens: z.int().min(1).nullish(),
    max_tool_calls: z.int().min(1).nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_logprobs: z.int().min(0).max(20).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    tool_choice: z.union([z.enum(['none', 'auto', 'required']), part()]).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    text: z.looseObject({ format: part().nullish(), verbosity: z.string().nullish() }).nullish(),
    reasoning: z.looseObject({ effort: z.string().nullish(), summary: z.string().nullish() }).nullish(),
    include: z.array(z.string()).nullish(),
    truncation: z.enum(['auto', 'disabled']).nullish(),
    metadata: z.record(z.string(), z.string()).nullish(),
    user: z.string().nullish(),
    safety_identifier: z.string().nullish(),
    prompt_cache_key: z.string().nullish(),
    service_tier: z.string().nullish(),
  }),
)

const tool: () => z.ZodObject = lazy(() =>
  z.looseObject({
    type: z.string(),
    name: z.string().min(1).optional(),
    parameters: z.looseObject({}).nullish(),
    strict: z.boolean().nullish(),
  }),
)
const namedTool = lazy(() => tool().extend({ name: z.string().min(1) }))

/** A request to the responses endpoint that was read and validated. */
export interface ResponseOrder extends Order<ResponseRequest> {
  /** Without items once the order was released, unless the response will be kept. */
  readonly conversation: ResponseConversation
  /** Whether the response will be stored. */
  readonly isStored: boolean
  /** Whether the request only prepares the next one. */
  readonly isPrewarm: boolean
  /** Where the response will be stored or remembered; undefined if nothing keeps it. */
  readonly archive: Pick<ResponseArchive, 'put'> | undefined
  /** The conversation that the response extends. */
  readonly continued: Continued | undefined
  /** What makes the response, if that is in the background. */
  readonly job?: BackgroundJob | undefined
  /** The current time in milliseconds since the epoch. */
  readonly now: () => number
  /** The events sent so far; undefined before the first attempt. */
  progress: ResponseProgress | undefined
  /** Requests to the provider that were made of this one; released with it. */
  readonly derived: Record<string, unknown>[]
}

/** Reads and validates a request, and loads the conversation it continues. Throws 400, 404, 413, 415. */
export async function readResponse(exchange: Exchange, sizes: Sizes, reading: Reading): Promise<ResponseOrder> {
  const body = await readJson(exchange, sizes)
  check(schema(), body)
  checkTools(body.get('tools'), 'tools')
  rejectVendorState(body)
  const input = body.get('input')
  await yieldIfLarge({ large: body.isLarge })
  const sent = itemsIn(input)
  await yieldIfLarge({ large: body.isLarge })
  const previous = body.get('previous_response_id') as string | null | undefined
  const conversationId = conversationIn((name) => body.get(name))
  if (previous && conversationId !== undefined) throw exclusive('previous_response_id', 'conversation')
  if (sent.length === 0 && !previous && conversationId === undefined)
    throw invalid('Missing required parameter: "input".', 'input')

  const { services, caller, now } = reading
  const { connection } = exchange
  const isPrewarm = connection?.prewarm === true
  // A prewarm is not admitted, so that it could fill the store for nothing.
  const isStored = !isPrewarm && body.get('store') !== false
  if (body.get('background') === true) requireBackground(isStored, connection !== undefined)
  const key = conversationId === undefined ? undefined : idempotencyKeyOf(exchange)
  const continued = conversationId === undefined ? undefined : { id: conversationId, by: key && `responses ${key}` }
  const archive = new ResponseArchive(services.responses, caller.account, {
    isStored,
    memory: connection?.memory,
    conversation: isPrewarm ? undefined : continued,
  })
  const earlier = continued ? await archive.conversation(continued) : previous ? await archive.before(previous) : []
  let conversation = await conversationOf(sent, earlier, archive, sizes.jsonBytes)
  const bytes = body.bytes.length + (conversation.asSent ? 0 : added(conversation, input))
  if (bytes > sizes.jsonBytes) throw new GatewayError('context_length_exceeded')
  const derived: Record<string, unknown>[] = []
  const order = jsonOrder<ResponseRequest>(body)
  return overlaid(order, {
    promptTokens: estimateTokens(bytes),
    content: () => (conversation.asSent ? {} : { input: conversation.items }),
    get conversation() {
      return conversation
    },
    isStored,
    isPrewarm,
    archive: archive.keeps ? archive : undefined,
    continued,
    isBackground: body.get('background') === true,
    now,
    progress: undefined,
    derived,
    get request() {
      return order.request
    },
    release(keep: readonly string[]) {
      order.release?.(keep)
      for (const request of derived.splice(0)) for (const name of Object.keys(request)) request[name] = null
      if (!archive.keeps) conversation = { items: [], earlier: 0, asSent: true }
    },
  })
}

/** Bytes by which the complete conversation is longer than the input that was sent. */
function added({ items }: ResponseConversation, input: unknown): number {
  return Math.max(0, JSON.stringify(items).length - JSON.stringify(input ?? '').length)
}

function checkTools(tools: unknown, place: string): void {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw invalid(`Invalid value for "${place}": must be an array.`, place)
  for (const [index, each] of (tools as ResponseTool[]).entries()) {
    const here = `${place}[${index}]`
    const named = each?.type === 'function' || each?.type === 'custom' || each?.type === 'namespace'
    verify((named ? namedTool : tool)(), each, here)
    if (each.type === 'namespace') checkTools(each.tools, `${here}.tools`)
  }
}

function rejectVendorState(body: JsonBody): void {
  if (body.get('prompt') === undefined || body.get('prompt') === null) return
  throw refusedField('"prompt" is not supported. Send "instructions" and "input".', 'prompt')
}

function requireBackground(isStored: boolean, isConnected: boolean): void {
  if (isConnected) {
    const message = '"background" is not supported over WebSockets. Leave it out, or send the request over HTTP.'
    throw refusedField(message, 'background')
  }
  if (!isStored) throw invalid('"background" needs "store". Leave "store" out, or set it to true.', 'store')
}

/** The id of the conversation that a request names. */
export function conversationIn(field: (name: string) => unknown): string | undefined {
  const given = field('conversation') as string | { readonly id: string } | null | undefined
  return typeof given === 'object' ? given?.id : given
}

function exclusive(...params: readonly string[]): GatewayError {
  const names = params.map((each) => `'${each}'`)
  return new GatewayError('mutually_exclusive_parameters', {
    message: `Mutually exclusive parameters: ${names.join(', ')}. Ensure you are only providing one of: ${names.join(' or ')}.`,
  })
}

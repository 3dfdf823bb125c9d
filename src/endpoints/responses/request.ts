/**
 * Validation of requests to the responses endpoint. Unknown fields are allowed. Source of the fields: OpenAI's
 * CreateResponse.
 */
import * as z from 'zod'
import { estimateTokens } from '../../wire/counts.ts'
import { GatewayError, invalid } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { JsonBody } from '../../http/json-body.ts'
import type { Sizes } from '../../http/sizes.ts'
import { othersTurn } from '../../providers/turns.ts'
import type { ResponseRequest, ResponseTool } from '../../wire/responses.ts'
import { check, verify } from '../check.ts'
import type { Order, Reading } from '../endpoint.ts'
import { jsonOrder, overlaid } from '../order.ts'
import { conversationOf, type Conversation } from './history.ts'
import { itemsIn } from './items.ts'
import { ResponseArchive } from './archive.ts'
import type { ResponseProgress } from './progress.ts'

const part = z.looseObject({ type: z.string() })

const schema = z.looseObject({
  model: z.string().min(1),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
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
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), part]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.looseObject({ format: part.nullish(), verbosity: z.string().nullish() }).nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish(), summary: z.string().nullish() }).nullish(),
  include: z.array(z.string()).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  service_tier: z.string().nullish(),
})

const tool: z.ZodObject = z.looseObject({
  type: z.string(),
  name: z.string().min(1).optional(),
  parameters: z.looseObject({}).nullish(),
  strict: z.boolean().nullish(),
})
const namedTool = tool.extend({ name: z.string().min(1) })

/** Fields that refer to objects in the operator's account at the vendor, which callers must not access. */
const vendorStateFields = ['conversation', 'prompt'] as const

/** A request to the responses endpoint that was read and validated. */
export interface ResponseOrder extends Order<ResponseRequest> {
  readonly conversation: Conversation
  /** Where the response will be stored; undefined with `store: false`. */
  readonly archive: ResponseArchive | undefined
  /** The current time in milliseconds since the epoch. */
  readonly now: () => number
  /** The events sent so far; undefined before the first attempt. */
  progress: ResponseProgress | undefined
}

/** Reads and validates a request, and loads the conversation it continues. Throws 400, 404, 413, 415. */
export async function readResponse(exchange: Exchange, sizes: Sizes, reading: Reading): Promise<ResponseOrder> {
  const body = await readJson(exchange, sizes)
  check(schema, body)
  checkTools(body.get('tools'), 'tools')
  rejectVendorState(body)
  const input = body.get('input')
  await othersTurn({ large: body.isLarge })
  const sent = itemsIn(input)
  await othersTurn({ large: body.isLarge })
  const previous = body.get('previous_response_id') as string | null | undefined
  if (sent.length === 0 && !previous) throw invalid('Missing required parameter: "input".', 'input')

  const { parts, caller, now } = reading
  const archive = new ResponseArchive(parts.responses, caller.account)
  const conversation = await conversationOf(sent, previous, archive, sizes.jsonBytes)
  const bytes = conversation.asSent ? body.bytes.length : JSON.stringify(conversation.items).length
  if (bytes > sizes.jsonBytes) throw new GatewayError('context_length_exceeded')
  return overlaid(jsonOrder<ResponseRequest>(body), {
    promptTokens: estimateTokens(bytes),
    conversation,
    archive: body.get('store') === false ? undefined : archive,
    now,
    progress: undefined,
  })
}

function checkTools(tools: unknown, place: string): void {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw invalid(`Invalid value for "${place}": must be an array.`, place)
  for (const [index, each] of (tools as ResponseTool[]).entries()) {
    const here = `${place}[${index}]`
    const named = each?.type === 'function' || each?.type === 'custom' || each?.type === 'namespace'
    verify(named ? namedTool : tool, each, here)
    if (each.type === 'namespace') checkTools(each.tools, `${here}.tools`)
  }
}

function rejectVendorState(body: JsonBody): void {
  if (body.get('background') === true) {
    throw new GatewayError('unsupported_parameter', {
      param: 'background',
      message: '"background" is not supported. Leave it out; for a long response, set "stream" to true.',
    })
  }
  for (const param of vendorStateFields) {
    if (body.get(param) === undefined || body.get(param) === null) continue
    throw new GatewayError('unsupported_parameter', {
      param,
      message: `"${param}" is not supported. Send the items themselves, or continue with "previous_response_id".`,
    })
  }
}

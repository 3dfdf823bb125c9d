/**
 * `POST /v1/responses/compact`: a long conversation as a few items that stand for it. Vendors that can do it make items
 * only they can read; for all others the model is asked for a summary.
 */
import { textBytes } from '../../billing/estimate.ts'
import { estimateTokens } from '../../wire/counts.ts'
import { GatewayError } from '../../errors.ts'
import { jsonReply } from '../../http/answers.ts'
import { publishFailure } from '../../observe.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { retrySame } from '../../providers/failure.ts'
import type { CompactionObject, OutputItem, ResponsePart, ResponseRequest } from '../../wire/responses.ts'
import { usageOf } from '../../wire/usage.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { makerOf } from '../envelope.ts'
import { amend, amendOrder, overlaid } from '../order.ts'
import { openResponse, withIds } from './answer.ts'
import type { ResponseVisit } from './blank.ts'
import { kindOf } from './items.ts'
import { readResponse, type ResponseOrder } from './request.ts'
import { sealed } from './sealing.ts'
import { stateless } from './stateless.ts'
import { summaryItem, summaryRequest } from './summary.ts'
import { chatUsage, responseUsage } from './usage.ts'

export const compactResponse: CallEndpoint<ResponseRequest, CompactionObject, ResponseOrder> = {
  name: 'responses.compact',
  makes: 'text',
  lengthFields: ['max_output_tokens'],
  async read(exchange, sizes, reading) {
    const order = await readResponse(exchange, sizes, reading)
    if (!order.stream) return order
    throw new GatewayError('unsupported_parameter', {
      param: 'stream',
      message: '"stream" is not supported here: a compaction comes as a whole.',
    })
  },
  async ask(provider, call, visit) {
    const { output, usage, ...rest } =
      (await compactedBy(provider, call, visit)) ?? (await summarised(provider, call, visit))
    const id = visit.id.replace('req_', 'resp_')
    const now = Math.floor(visit.order.now() / 1000)
    const head = { id, created_at: now, ...rest, object: 'response.compaction' as const, output }
    return kept({ ...head, usage: counted(output, usage, visit) }, visit)
  },
  whole: (compaction) => jsonReply(compaction),
  frames() {
    throw new TypeError('a compaction is no stream')
  },
}

type Made = Pick<CompactionObject, 'output'> & Partial<CompactionObject>

/**
 * Undefined where the vendor cannot, or where the answer is bounded: no vendor takes a bound for a compaction, and what
 * is held must not be exceeded.
 */
async function compactedBy(
  provider: Provider,
  call: Call<ResponseRequest>,
  { order }: ResponseVisit,
): Promise<Made | undefined> {
  if (provider.compact === undefined || typeof call.field('max_output_tokens') === 'number') return undefined
  const maker = makerOf(provider)
  // Their compactions are never stored.
  const own = amend(stateless(call, order, maker), { store: undefined, include: undefined, stream: undefined })
  const made = await provider.compact(own)
  if (made === undefined) return undefined
  if (!Array.isArray(made.output)) throw retrySame(new Error('the vendor gave no items for the conversation'))
  return { ...made, output: sealed(made.output as readonly OutputItem[], maker) }
}

async function summarised(provider: Provider, call: Call<ResponseRequest>, visit: ResponseVisit): Promise<Made> {
  const { order } = visit
  const items = [...order.conversation.items, summaryRequest]
  const changes = { input: items, ...notOfSummaries, store: false, stream: false }
  const conversation = { items, earlier: order.conversation.earlier, asSent: false }
  const own = overlaid(amendOrder(order, changes), { conversation, shelf: undefined, progress: undefined })
  const answer = await openResponse(provider, amend(call, changes), { ...visit, order: own })
  if (answer.kind === 'events') throw new TypeError('an answer that was wanted whole came in events')
  const { output } = answer.response
  const summary = textIn(output).trim()
  if (summary === '') throw retrySame(new Error('the model wrote no summary'))
  const instructions = withIds(visit.id, order).filter(isInstruction) as readonly OutputItem[]
  return { output: [...instructions, summaryItem(visit.id.replace('req_', 'cmp_'), summary)] }
}

const notOfSummaries = {
  previous_response_id: undefined,
  tools: undefined,
  tool_choice: undefined,
  parallel_tool_calls: undefined,
  text: undefined,
  include: undefined,
}

/** Rules are not a matter of a summary: they stay as they are. */
function isInstruction(item: { readonly type?: string; readonly role?: string }): boolean {
  return kindOf(item) === 'message' && (item.role === 'developer' || item.role === 'system')
}

function textIn(output: readonly OutputItem[]): string {
  const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content as ResponsePart[])
  return parts.map(({ text = '' }) => text).join('')
}

/** Of a summary the meter knows all there is to know. */
function counted(output: readonly OutputItem[], raw: unknown, { order, meter }: ResponseVisit) {
  const usage = chatUsage(raw) ?? meter.usage
  if (usage === undefined) meter.textBytes ||= textBytes(output)
  else meter.usage = usage
  return responseUsage(usage ?? usageOf(order.promptTokens, estimateTokens(meter.textBytes)))
}

/** As responses are: it can be retrieved, and continued by its id. */
async function kept(compaction: CompactionObject, { id, order }: ResponseVisit): Promise<CompactionObject> {
  const { shelf, conversation } = order
  const input = withIds(id, order)
  try {
    await shelf?.put({ input, response: compaction }, input.slice(conversation.earlier))
  } catch (error) {
    publishFailure({ id, error })
  }
  return compaction
}

/** Compaction: replaces a long conversation by a few items. */
import { textBytes } from '../../money/prices/estimate.ts'
import { estimateTokens } from '../../wire/counts.ts'
import { refusedField } from '../../errors.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { billed, unreadable } from '../../providers/failure.ts'
import type { CompactionObject, OutputItem, ResponseRequest } from '../../wire/responses.ts'
import { usageOf } from '../../wire/usage.ts'
import { defineEndpoint } from '../define.ts'
import type { CallEndpoint } from '../endpoint.ts'
import { makerOf } from '../../formats/envelope.ts'
import { wholeOf } from '../open.ts'
import { amend } from '../order.ts'
import { openResponse, withIds } from './answer.ts'
import type { ResponseContext } from './empty-response.ts'
import { kindOf } from './items.ts'
import { readResponse, type ResponseOrder } from './request.ts'
import { sealedItems } from './seal-items.ts'
import { stateless } from './stateless.ts'
import { summarising, summaryItem } from './compaction-summary.ts'
import { chatUsage, responseUsage } from '../../wire/response-usage.ts'

/**
 * `POST /v1/responses/compact`. Vendors with an endpoint for it make items that only they can read; for all others, the
 * model writes a summary.
 */
export const compactResponse: CallEndpoint<ResponseRequest, CompactionObject, ResponseOrder> = defineEndpoint({
  method: 'POST',
  path: '/v1/responses/compact',
  name: 'responses.compact',
  makes: 'text',
  lengthFields: ['max_output_tokens'],
  async read(exchange, sizes, reading) {
    const order = await readResponse(exchange, sizes, reading)
    const param = ['stream', 'conversation', 'background'].find((name) => order.field(name))
    if (param === undefined) return order
    const message = `"${param}" is not supported by this endpoint. Leave it out.`
    throw refusedField(message, param)
  },
  async ask(provider, call, context) {
    const { output, usage, ...rest } =
      (await compactByVendor(provider, call, context)) ?? (await summarise(provider, call, context))
    const id = context.id.replace('req_', 'resp_')
    const now = Math.floor(context.order.now() / 1000)
    const head = { id, created_at: now, ...rest, object: 'response.compaction' as const, output }
    return stored({ ...head, usage: counted(output, usage, context) }, context)
  },
})

/** A compaction without its id. */
type Draft = Pick<CompactionObject, 'output'> & Partial<CompactionObject>

/**
 * The vendor's own compaction. Undefined if it has none, if inspectors would have to read it, which its encryption prevents, or if
 * the output is limited: no vendor accepts a limit for compactions, and the cost must not exceed the held amount.
 */
async function compactByVendor(
  provider: Provider,
  call: Call<ResponseRequest>,
  { order, inspection }: ResponseContext,
): Promise<Draft | undefined> {
  if (inspection !== undefined) return undefined
  if (provider.compact === undefined || typeof call.field('max_output_tokens') === 'number') return undefined
  const maker = makerOf(provider)
  // Vendors' compaction endpoints do not accept these fields.
  const own = amend(stateless(call, order, maker), { store: undefined, include: undefined, stream: undefined })
  const made = await provider.compact(own)
  if (made === undefined) return undefined
  if (!Array.isArray(made.output))
    throw billed(unreadable('the compaction of the vendor has no items'), chatUsage(made.usage))
  return { ...made, output: sealedItems(made.output as readonly OutputItem[], maker) }
}

/** A summary by the model. What the user and the instructions say is kept as it is. */
async function summarise(provider: Provider, call: Call<ResponseRequest>, context: ResponseContext): Promise<Draft> {
  const { order } = context
  const asked = summarising(call, order)
  const { body } = wholeOf(await openResponse(provider, asked.call, { ...context, order: asked.order }))
  const said = withIds(context.id, order).filter(isSaid) as readonly OutputItem[]
  return { output: [...said, summaryItem(context.id, body.output)] }
}

function isSaid(item: { readonly type?: string; readonly role?: string }): boolean {
  return kindOf(item) === 'message' && item.role !== 'assistant'
}

/** The usage: the vendor's, else what the meter counted, else an estimate. */
function counted(output: readonly OutputItem[], raw: unknown, { order, meter }: ResponseContext) {
  const usage = chatUsage(raw) ?? meter.usage
  if (usage === undefined) meter.textBytes ||= textBytes(output)
  else meter.usage = usage
  return responseUsage(usage ?? usageOf(order.promptTokens, estimateTokens(meter.textBytes)))
}

/** Stores a compaction like a response, so that it can be retrieved and continued. */
async function stored(compaction: CompactionObject, { id, order, observer }: ResponseContext) {
  const { archive, conversation } = order
  const input = withIds(id, order)
  try {
    await archive?.put({ input, response: compaction }, input.slice(conversation.earlier))
  } catch (error) {
    observer.failure({ id, error })
  }
  return compaction
}

import { jsonReply } from '../../http/answers.ts'
import type { Model } from '../../models/contract.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { forceParse } from '../../providers/yielding.ts'
import type { MessageRequest } from '../../wire/messages.ts'
import { countByVendor } from '../count-by-vendor.ts'
import type { QueryEndpoint, Order } from '../endpoint.ts'
import { makerOf } from '../envelope.ts'
import { amend, overlaid, replaceLarge } from '../order.ts'
import { withMessageFieldNames as withFieldNamesOfChat } from './by-chat/field-names.ts'
import { chatRequestOf } from './by-chat/request.ts'
import { fallbacks as chatFallbacks } from './by-chat/by-chat.ts'
import { fallbacks as responseFallbacks } from './by-responses/by-responses.ts'
import { withMessageFieldNames as withFieldNamesOfResponse } from './by-responses/field-names.ts'
import { responseRequestOf } from './by-responses/request.ts'
import { withoutCosts } from './headers.ts'
import { readableHistory } from './history.ts'
import { thinkingMakerOf } from './thinking-maker.ts'
import { read, type Reading } from './reading/reading.ts'
import { withFallbacks } from './field-fallbacks.ts'
import { checkLong, readCounting } from './request.ts'
import { mediaIn, type MediaKind } from '../../admission/media.ts'
import { estimateTokens } from '../../wire/counts.ts'
import { ignore } from '../../http/ignore.ts'

/** `POST /v1/messages/count_tokens`: by the vendor if it counts, else an estimate. */
export const countMessageTokens: QueryEndpoint = {
  name: 'messages.count_tokens',
  limited: 'counts',
  async answer(query) {
    const { exchange, sizes, catalogue, caller } = query
    const order = await readCounting(exchange, sizes)
    const model = await catalogue.find(order.model, caller)
    const counted = await countByVendor('messages', order, model, query, (provider, call: Call<MessageRequest>) =>
      countBy(provider, call, model),
    )
    return jsonReply({ input_tokens: counted ?? estimatedInput(order) })
  },
}

async function countBy(provider: Provider, call: Call<MessageRequest>, model: Model): Promise<number | undefined> {
  if (provider.countMessage !== undefined) {
    const { clientHeaders } = call
    const own = amend(call, readableHistory(call, thinkingMakerOf(call.model)))
    return provider.countMessage(
      clientHeaders === undefined ? own : overlaid(own, { clientHeaders: withoutCosts(clientHeaders, model, ignore) }),
    )
  }
  if (provider.countChat === undefined && provider.countResponse === undefined) return undefined
  await forceParse(call)
  checkLong(call)
  const reading = read(typeof call.field('max_tokens') === 'number' ? call : amend(call, { max_tokens: enough }))
  return provider.countResponse === undefined
    ? countByChat(provider, call, reading)
    : countByResponse(provider, call, reading)
}

async function countByResponse(provider: Provider, call: Call<MessageRequest>, reading: Reading) {
  const made = responseRequestOf(call.publicModel, reading, makerOf(provider))
  try {
    return await withFallbacks(provider, call.model, made, responseFallbacks, async (request) =>
      provider.countResponse?.(replaceLarge(call, request)),
    )
  } catch (thrown) {
    throw withFieldNamesOfResponse(thrown, call.request)
  }
}

async function countByChat(provider: Provider, call: Call<MessageRequest>, reading: Reading) {
  const made = chatRequestOf(call.publicModel, reading, provider.chatTraits ?? {}, makerOf(provider))
  try {
    return await withFallbacks(provider, call.model, made, chatFallbacks, async (request) =>
      provider.countChat?.(replaceLarge(call, request)),
    )
  } catch (thrown) {
    throw withFieldNamesOfChat(thrown, call.request)
  }
}

/** More than any budget of thinking needs; it does not count. */
const enough = 1_000_000

/** Typical tokens of a part that is not text, whose bytes say little about them. */
const typical: Readonly<Record<MediaKind, number>> = { image: 1_600, audio: 1_000, file: 3_000 }

/** About how many input tokens a request has: one for four bytes of text, and a typical number for each image or file. */
function estimatedInput({ promptTokens, field }: Pick<Order<unknown>, 'promptTokens' | 'field'>): number {
  let tokens = promptTokens
  for (const { kind, bytes } of mediaIn(field)) {
    if (bytes > 0) tokens += Math.min(0, typical[kind] - estimateTokens(bytes))
    else tokens += typical[kind]
  }
  return Math.max(1, tokens)
}

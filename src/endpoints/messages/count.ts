import { jsonReply } from '../../http/answers.ts'
import type { Model } from '../../models/contract.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { MessageRequest } from '../../wire/messages.ts'
import { countByVendor } from '../count-by-vendor.ts'
import { defineEndpoint } from '../define.ts'
import type { QueryEndpoint, Order } from '../endpoint.ts'
import { amend, overlaid } from '../order.ts'
import { withoutCosts } from './headers.ts'
import { readableHistory } from './history.ts'
import { thinkingMakerOf } from '../../formats/messages/thinking-maker.ts'
import { countTranslatedMessage } from './translated.ts'
import { checkLong, readCounting } from './request.ts'
import { mediaIn, type MediaKind } from '../../admission/media.ts'
import { estimateTokens } from '../../wire/counts.ts'
import { ignore } from '../../http/ignore.ts'

/** `POST /v1/messages/count_tokens`: by the vendor if it counts, else an estimate. */
export const countMessageTokens: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: '/v1/messages/count_tokens',
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
})

async function countBy(provider: Provider, call: Call<MessageRequest>, model: Model): Promise<number | undefined> {
  if (provider.countMessage !== undefined) {
    const { clientHeaders } = call
    const own = amend(call, readableHistory(call, thinkingMakerOf(call.model)))
    return provider.countMessage(
      clientHeaders === undefined ? own : overlaid(own, { clientHeaders: withoutCosts(clientHeaders, model, ignore) }),
    )
  }
  checkLong(call)
  return countTranslatedMessage(provider, call)
}

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

import { jsonReply } from '../../http/answers.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import type { ResponseRequest } from '../../wire/responses.ts'
import { countByVendor } from '../count-by-vendor.ts'
import { defineEndpoint } from '../define.ts'
import type { QueryEndpoint } from '../endpoint.ts'
import { countTranslated } from '../translated/count.ts'
import { makerOf } from '../../formats/envelope.ts'
import { readResponse, type ResponseOrder } from './request.ts'
import { stateless } from './stateless.ts'
import { client, withConversation, withPlace } from './translated.ts'

/** `POST /v1/responses/input_tokens`: by the vendor if it counts, else an estimate of about four bytes per token. */
export const countInputTokens: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: '/v1/responses/input_tokens',
  name: 'responses.input_tokens',
  limited: 'counts',
  async answer(query) {
    const { exchange, sizes, caller, services, catalogue } = query
    const order = await readResponse(exchange, sizes, { caller, services, now: Date.now })
    const model = await catalogue.find(order.model, caller)
    const counted = await countByVendor('responses', order, model, query, countBy)
    return jsonReply({ object: 'response.input_tokens', input_tokens: counted ?? order.promptTokens })
  },
})

/** The count of the request that the provider would get for a response. */
async function countBy(
  provider: Provider,
  call: Call<ResponseRequest>,
  order: ResponseOrder,
): Promise<number | undefined> {
  if (provider.countResponse !== undefined) return provider.countResponse(stateless(call, order, makerOf(provider)))
  try {
    return await countTranslated(client, provider, withConversation(call, order))
  } catch (thrown) {
    throw withPlace(thrown, order)
  }
}

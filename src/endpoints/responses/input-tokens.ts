import { jsonReply } from '../../http/answers.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { forceParse } from '../../providers/yielding.ts'
import type { ResponseRequest } from '../../wire/responses.ts'
import { checkMadeChat } from '../chat/request.ts'
import { countByVendor } from '../count-by-vendor.ts'
import type { QueryEndpoint } from '../endpoint.ts'
import { makerOf } from '../envelope.ts'
import { replaceLarge } from '../order.ts'
import { withRequestFieldNames } from './by-chat/field-names.ts'
import { chatRequestOf } from './by-chat/request.ts'
import { ChatTools } from './by-chat/tools.ts'
import { readResponse, type ResponseOrder } from './request.ts'
import { stateless } from './stateless.ts'

/** `POST /v1/responses/input_tokens`: by the vendor if it counts, else an estimate of about four bytes per token. */
export const countInputTokens: QueryEndpoint = {
  name: 'responses.input_tokens',
  limited: 'counts',
  async answer(query) {
    const { exchange, sizes, caller, services, catalogue } = query
    const order = await readResponse(exchange, sizes, { caller, services, now: Date.now })
    const model = await catalogue.find(order.model, caller)
    const counted = await countByVendor('responses', order, model, query, countBy)
    return jsonReply({ object: 'response.input_tokens', input_tokens: counted ?? order.promptTokens })
  },
}

/** The count of the request that the provider would get for a response. */
async function countBy(
  provider: Provider,
  call: Call<ResponseRequest>,
  order: ResponseOrder,
): Promise<number | undefined> {
  const maker = makerOf(provider)
  if (provider.countResponse !== undefined) return provider.countResponse(stateless(call, order, maker))
  if (provider.countChat === undefined) return undefined
  await forceParse(call)
  try {
    const tools = new ChatTools(call.request.tools ?? [])
    const made = chatRequestOf(call, order, tools, maker, provider.chatTraits)
    checkMadeChat(made)
    return await provider.countChat(replaceLarge(call, made))
  } catch (thrown) {
    throw withRequestFieldNames(thrown, call.request)
  }
}

import { readJson } from '../../http/body.ts'
import { jsonReply } from '../../http/answers.ts'
import { invalid } from '../../errors.ts'
import { JsonBody } from '../../http/json-body.ts'
import { isRecord } from '../../wire/json.ts'
import type { GenerateContentRequest } from '../../wire/gemini.ts'
import type { Call } from '../../providers/contract.ts'
import { forceParse } from '../../providers/yielding.ts'
import { countByVendor } from '../count-by-vendor.ts'
import { defineEndpoint } from '../define.ts'
import type { QueryEndpoint } from '../endpoint.ts'
import { countTranslated } from '../translated/count.ts'
import { interactsOnly } from '../translated/vendor-wires.ts'
import { contentWire } from './content.ts'
import { checkContent } from './guard.ts'
import { orderOf } from './request.ts'
import { nativeCall, vendorCall } from './vendor-call.ts'
import { ignore } from '../../http/ignore.ts'

/** `POST /v1beta/models/{model}:countTokens`: by the vendor if it counts, else an estimate. */
export const countContentTokens: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: '/v1beta/models:countTokens',
  name: 'content.count_tokens',
  limited: 'counts',
  async answer(query) {
    const { exchange, sizes, catalogue, caller } = query
    const order = orderOf(requestIn(await readJson(exchange, sizes), sizes), false, false)
    const model = await catalogue.find(order.model, caller)
    checkContent(order.field, model)
    const counted = await countByVendor(
      'content.generate',
      order,
      model,
      query,
      async (provider, call: Call<GenerateContentRequest>) => {
        await forceParse(call)
        const fitted = vendorCall(call, model, ignore)
        const counts = provider.countContent !== undefined && !interactsOnly(provider, fitted.model)
        if (counts) return provider.countContent?.(nativeCall(fitted))
        return countTranslated(contentWire, provider, fitted)
      },
    )
    return jsonReply({ totalTokens: counted ?? Math.max(1, order.promptTokens) })
  },
})

/** The request may be inside of `generateContentRequest`, with all that is sent for an answer. */
function requestIn(body: JsonBody, sizes: Parameters<typeof JsonBody.fromValue>[1]): JsonBody {
  const inner = body.get('generateContentRequest') ?? body.get('generate_content_request')
  if (inner === undefined || inner === null) return body
  if (!isRecord(inner)) throw invalid('"generateContentRequest" must be an object.', 'generateContentRequest')
  return JsonBody.fromValue({ ...inner, model: body.get('model') }, sizes)
}

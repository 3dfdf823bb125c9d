import { invalid } from '../errors.ts'
import { jsonReply } from '../http/answers.ts'
import { readJson } from '../http/body.ts'
import { defineEndpoint } from './define.ts'
import type { QueryEndpoint } from './endpoint.ts'

/** `POST /v1/cost`: what a call would cost, hold, and be refused by, without making it. */
export const cost: QueryEndpoint = defineEndpoint({
  method: 'POST',
  path: '/v1/cost',
  name: 'cost',
  limited: true,
  async answer({ id, exchange, sizes, caller, services, admit }) {
    const asked = await readJson(exchange, sizes)
    const [endpoint, body] = [asked.get('endpoint'), asked.textOf('body')]
    if (typeof endpoint !== 'string' || endpoint === '') {
      throw invalid('"endpoint" must be the path of the call, such as "chat/completions".', 'endpoint')
    }
    if (body === undefined) throw invalid('"body" must be the JSON body of the call.', 'body')
    const target = `/${endpoint.replace(/^\/+/, '').replace(/^(?!v1(?:beta)?\/|v2\/)/, 'v1/')}`
    const { model, quote } = await services.quote({ id, exchange, caller, target, body, admit })
    const { least, likely, most, unbounded, tokens, held, currency, refusals } = quote
    return jsonReply({
      object: 'cost',
      model,
      currency: currency ?? null,
      least,
      likely,
      most: most ?? null,
      ...(unbounded !== undefined && { unbounded }),
      held,
      prompt_tokens: tokens.prompt,
      output_tokens: tokens.output,
      refused_by: refusals,
    })
  },
})

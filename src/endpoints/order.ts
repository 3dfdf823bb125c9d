/** An order made of a JSON body, which is parsed no further than somebody looks. */
import { estimateTokens } from '../billing/usage.ts'
import type { JsonBody } from '../http/json-body.ts'
import type { Order } from './endpoint.ts'

export function jsonOrder<Request>(body: JsonBody): Order<Request> {
  return {
    model: body.get('model') as string,
    stream: body.get('stream') === true,
    get request() {
      return body.value as Request
    },
    get promptTokens() {
      return estimateTokens(body.bytes.length)
    },
    field: (name) => body.get(name),
    json: (changes) => body.with(changes),
  }
}

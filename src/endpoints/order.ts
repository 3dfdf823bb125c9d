/** Orders and calls made of a JSON body, of a request the gateway wrote itself, and of another call. */
import { estimateTokens } from '../billing/usage.ts'
import { amendForm, changesTo } from '../http/form.ts'
import type { JsonBody } from '../http/json-body.ts'
import type { Call } from '../providers/contract.ts'
import type { Order } from './endpoint.ts'

/** An order that is parsed no further than somebody looks. */
export function jsonOrder<Request>(body: JsonBody, stream: boolean = body.get('stream') === true): Order<Request> {
  return {
    model: body.get('model') as string,
    stream,
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

/** The same call for a request that differs in some fields (undefined: left out). Nothing is parsed or printed yet. */
export function amend<Request>(
  call: Call<Request>,
  changes: Record<string, unknown>,
  signal: AbortSignal = call.signal,
): Call<Request> {
  return derive(call, {
    signal,
    get request() {
      return { ...call.request, ...changes }
    },
    field: (name) => (Object.hasOwn(changes, name) ? changes[name] : call.field(name)),
    json: (more) => call.json({ ...changes, ...more }),
    form: call.form && amendForm(call.form, changesTo(changes)),
  })
}

/** The same call for another request altogether. */
export function replace<Request extends object>(
  call: Call<unknown>,
  request: Request,
  signal: AbortSignal = call.signal,
): Call<Request> {
  return derive(call, {
    signal,
    request,
    field: (name) => (request as Record<string, unknown>)[name],
    json: (changes) => Buffer.from(JSON.stringify({ ...request, ...changes })),
    form: undefined,
  })
}

type Content<Request> = Pick<Call<Request>, 'request' | 'field' | 'json' | 'form' | 'signal'>

/** The head of one call with the content of another. Written out, so that no getter of a request is read. */
function derive<Request>(call: Call<unknown>, content: Content<Request>): Call<Request> {
  return Object.defineProperties({} as Call<Request>, {
    ...Object.getOwnPropertyDescriptors(call),
    ...Object.getOwnPropertyDescriptors(content),
  })
}

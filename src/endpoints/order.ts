/** Orders and calls made of a JSON body, of a request the gateway wrote itself, and of another call. */
import { estimateTokens } from '../billing/usage.ts'
import { amendForm, changesTo } from '../http/form.ts'
import type { JsonBody, JsonObject } from '../http/json-body.ts'
import type { Call } from '../providers/contract.ts'
import type { Order } from './endpoint.ts'

/**
 * An order that is parsed no further than somebody looks. What is known is written down as it is: each object literal
 * with getters is of a new kind to the engine, slow to make, and garbage that grows old.
 */
export function jsonOrder<Request>(body: JsonBody, stream: boolean = body.get('stream') === true): Order<Request> {
  const model = body.get('model') as string
  const field = (name: string) => body.get(name)
  const json = (changes: JsonObject) => body.with(changes)
  if (body.isSmall) {
    const promptTokens = estimateTokens(body.bytes.length)
    return { model, stream, request: body.value as Request, isParsed: true, promptTokens, field, json }
  }
  return {
    model,
    stream,
    get request() {
      return body.value as Request
    },
    get promptTokens() {
      return estimateTokens(body.bytes.length)
    },
    field,
    json,
  }
}

/** What of a call does not come of the order. */
export type CallHead = Pick<Call<unknown>, 'id' | 'signal' | 'model' | 'openModel' | 'maxOutputTokens'>

/** The call of a provider for an order. What is not parsed yet is parsed when it is first read. */
export function callFor<Request>(order: Order<Request>, head: CallHead): Call<Request> {
  const { model: publicModel, field, json, form } = order
  if (order.isParsed === true) {
    return { ...head, publicModel, stream: order.stream, request: order.request, field, json, form }
  }
  return {
    ...head,
    publicModel,
    get stream() {
      return order.stream
    },
    get request() {
      return order.request
    },
    field,
    json,
    form,
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

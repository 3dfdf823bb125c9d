/** Orders and calls made of a JSON body, of a request the gateway wrote itself, and of another call. */
import { estimateTokens } from '../wire/counts.ts'
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
  const names = () => body.names()
  const repeatsWithin = (name: string) => body.repeatsWithin(name)
  if (body.isSmall) {
    const promptTokens = estimateTokens(body.bytes.length)
    return {
      model,
      stream,
      request: body.value as Request,
      isParsed: true,
      promptTokens,
      field,
      json,
      names,
      repeatsWithin,
    }
  }
  return {
    model,
    stream,
    large: body.isLarge,
    get request() {
      return body.value as Request
    },
    get promptTokens() {
      return estimateTokens(body.bytes.length)
    },
    field,
    json,
    names,
    repeatsWithin,
  }
}

/** The same order for a request that differs in some fields (undefined: left out). Its form stays as it is. */
export function amendOrder<Amended extends Order<unknown>>(
  order: Amended,
  changes: Readonly<Record<string, unknown>>,
): Amended {
  return overlaid(order, {
    get request() {
      return { ...(order.request as object), ...changes }
    },
    field: (name: string) => (Object.hasOwn(changes, name) ? changes[name] : order.field(name)),
    json: (more: Record<string, unknown>) => order.json({ ...changes, ...more }),
  }) as unknown as Amended
}

/** What of a call does not come of the order. */
export type CallHead = Pick<Call<unknown>, 'id' | 'signal' | 'model' | 'openModel' | 'maxOutputTokens' | 'sent'>

/** The call of a provider for an order. What is not parsed yet is parsed when it is first read. */
export function callFor<Request>(order: Order<Request>, head: CallHead): Call<Request> {
  const { model: publicModel, field, json, form, large } = order
  if (order.isParsed === true) {
    return { ...head, publicModel, stream: order.stream, request: order.request, field, json, form }
  }
  return {
    ...head,
    publicModel,
    large,
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
  return overlaid(call, {
    signal,
    get request() {
      return { ...call.request, ...changes }
    },
    field: (name: string) => (Object.hasOwn(changes, name) ? changes[name] : call.field(name)),
    json: (more: Record<string, unknown>) => call.json({ ...changes, ...more }),
    form: call.form && amendForm(call.form, changesTo(changes)),
  })
}

/** The same call for another request altogether. */
export function replace<Request extends object>(
  call: Call<unknown>,
  request: Request,
  signal: AbortSignal = call.signal,
): Call<Request> {
  return overlaid(call, {
    signal,
    request,
    field: (name: string) => (request as Record<string, unknown>)[name],
    json: (changes: Record<string, unknown>) => Buffer.from(JSON.stringify({ ...request, ...changes })),
    form: undefined,
  })
}

/** The members of one object, and over them those of another, without reading a getter of either. */
export function overlaid<Base extends object, More extends object>(
  base: Base,
  more: More,
): Omit<Base, keyof More> & More {
  return Object.defineProperties({} as Omit<Base, keyof More> & More, {
    ...Object.getOwnPropertyDescriptors(base),
    ...Object.getOwnPropertyDescriptors(more),
  })
}

/** Orders from JSON bodies, provider calls from orders, and changed copies of both. */
import { estimateTokens } from '../wire/counts.ts'
import { amendForm, changesTo } from '../http/form.ts'
import { JsonBody, type JsonObject } from '../http/json-body.ts'
import type { Call } from '../providers/contract.ts'
import { serialize } from '../providers/turns.ts'
import type { Order } from './endpoint.ts'

/**
 * The order for a JSON body, which is parsed only as far as needed. A small body gives an object without getters:
 * object literals with getters get a new hidden class each time, which is slow and survives young garbage collections.
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

/** A copy of an order with some fields changed (undefined: removed). Its form is not changed. */
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

/** The fields of a call that do not come from the order. */
export type CallHead = Pick<Call<unknown>, 'id' | 'signal' | 'model' | 'openModel' | 'maxOutputTokens' | 'sent'>

/** The provider call for an order. Fields that are not parsed yet are parsed on first access. */
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

/** A copy of a call with some fields of its request changed (undefined: removed). Parses and serializes nothing yet. */
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

/** A copy of a call for another request. */
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

/** Like `replace`, for a request that may be large: then `prepare` serializes it in several turns of the event loop. */
export function replaceLarge<Request extends object>(call: Call<unknown>, request: Request): Call<Request> {
  const replaced = replace(call, request)
  if (call.large !== true) return replaced
  let body: JsonBody | undefined
  return overlaid(replaced, {
    json: (changes: JsonObject) => body?.with(changes) ?? replaced.json(changes),
    async prepare() {
      if (body !== undefined) return
      const fields = new Map<string, Buffer>()
      for (const [name, value] of Object.entries(request)) {
        if (value !== undefined) fields.set(name, await serialize(call, value))
      }
      body = JsonBody.fromFields(fields)
    },
  })
}

/** Like `{ ...base, ...more }`, but copies getters instead of calling them. */
export function overlaid<Base extends object, More extends object>(
  base: Base,
  more: More,
): Omit<Base, keyof More> & More {
  return Object.defineProperties({} as Omit<Base, keyof More> & More, {
    ...Object.getOwnPropertyDescriptors(base),
    ...Object.getOwnPropertyDescriptors(more),
  })
}

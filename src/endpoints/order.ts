/** Orders from JSON bodies, provider calls from orders, and changed copies of both. */
import { estimateTokens } from '../wire/counts.ts'
import type { Canceller } from '../http/cancellation.ts'
import { amendForm, changesTo } from '../http/form.ts'
import { JsonBody, type JsonObject } from '../http/json-body.ts'
import type { Call } from '../providers/contract.ts'
import { serialize } from '../providers/yielding.ts'
import { changesWithDigits } from './digits.ts'
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
  const typesWithin = (name: string) => body.typesWithin(name)
  if (body.isSmall) {
    const order = {
      model,
      stream,
      request: body.value as Request,
      isParsed: true,
      hasLongNumber: body.hasLongNumber,
      promptTokens: estimateTokens(body.length),
      field,
      json,
      names,
      repeatsWithin,
      typesWithin,
      release(keep: readonly string[]) {
        body.release(keep)
        order.request = body.value as Request
      },
    }
    return order
  }
  return {
    model,
    stream,
    large: body.isLarge,
    hasLongNumber: body.hasLongNumber,
    get request() {
      return body.value as Request
    },
    get promptTokens() {
      return estimateTokens(body.length)
    },
    field,
    json,
    names,
    repeatsWithin,
    typesWithin,
    release: (keep) => body.release(keep),
  }
}

/** The order for a request that the gateway makes itself. */
export function madeOrder<Request extends { readonly model: string }>(request: Request): Order<Request> {
  const json = (changes: JsonObject) => Buffer.from(JSON.stringify({ ...request, ...changes }))
  return {
    model: request.model,
    stream: false,
    isParsed: true,
    request,
    promptTokens: estimateTokens(json({}).length),
    field: (name) => (request as JsonObject)[name],
    names: () => Object.keys(request),
    json,
  }
}

/**
 * A copy of an order with some fields changed (undefined: removed). Its form is not changed. What its vendors get as JSON keeps the
 * digits of large integers.
 */
export function amendOrder<Amended extends Order<unknown>>(
  order: Amended,
  changes: Readonly<Record<string, unknown>>,
): Amended {
  return overlaid(order, {
    get request() {
      return { ...(order.request as object), ...changes }
    },
    field: (name: string) => (Object.hasOwn(changes, name) ? changes[name] : order.field(name)),
    json: (more: Record<string, unknown>) => {
      const exact = order.hasLongNumber === true ? changesWithDigits(order, changes) : changes
      return order.json({ ...exact, ...more })
    },
  }) as unknown as Amended
}

/** The fields of a call that do not come from the order. */
export interface CallHead extends Pick<
  Call<unknown>,
  | 'id'
  | 'model'
  | 'openModel'
  | 'maxOutputTokens'
  | 'sent'
  | 'answered'
  | 'costs'
  | 'headers'
  | 'account'
  | 'conversation'
  | 'promptCacheKey'
  | 'pricesCache'
> {
  readonly cancellation: Canceller
}

/** The provider call for an order. Fields that are not parsed yet are parsed on first access. */
export function callFor<Request>(order: Order<Request>, head: CallHead): Call<Request> {
  const { model: publicModel, field, json, form, large, clientHeaders } = order
  if (order.isParsed === true) {
    const { stream, request } = order
    const asked = { publicModel, stream, request, field, json, form, clientHeaders, inChunks: undefined }
    return madeCall(head.cancellation, head, asked)
  }
  const { cancellation, ...rest } = head
  return cancelledBy(cancellation, {
    ...rest,
    publicModel,
    field,
    json,
    form,
    clientHeaders,
    large,
    get stream() {
      return order.stream
    },
    get request() {
      return order.request
    },
  })
}

/** One literal with all fields: objects that are spread into others are made twice. */
function madeCall<Request>(
  cancellation: Canceller,
  head: Omit<CallHead, 'cancellation'>,
  asked: Pick<
    Call<Request>,
    'publicModel' | 'stream' | 'request' | 'field' | 'json' | 'form' | 'clientHeaders' | 'inChunks'
  >,
): Call<Request> {
  return cancelledBy(cancellation, {
    id: head.id,
    model: head.model,
    openModel: head.openModel,
    maxOutputTokens: head.maxOutputTokens,
    sent: head.sent,
    answered: head.answered,
    costs: head.costs,
    headers: head.headers,
    account: head.account,
    conversation: head.conversation,
    promptCacheKey: head.promptCacheKey,
    pricesCache: head.pricesCache,
    publicModel: asked.publicModel,
    stream: asked.stream,
    request: asked.request,
    field: asked.field,
    json: asked.json,
    form: asked.form,
    clientHeaders: asked.clientHeaders,
    inChunks: asked.inChunks,
  })
}

/** One function for all calls, so that they have one hidden class. */
const lazySignal = {
  get(this: CallHead): AbortSignal {
    return this.cancellation.signal
  },
  enumerable: true,
  configurable: true,
}

/** Adds `signal`, and `cancellation`, which is not enumerable: a provider's copy with another signal must not have it. */
function cancelledBy<Request>(
  cancellation: Canceller,
  call: Omit<Call<Request>, 'signal' | 'cancellation'>,
): Call<Request> {
  Object.defineProperty(call, 'signal', lazySignal)
  return Object.defineProperty(call, 'cancellation', { value: cancellation, configurable: true }) as Call<Request>
}

/** A copy of a call with some fields of its request changed (undefined: removed). Parses and serializes nothing yet. */
export function amend<Request>(
  call: Call<Request>,
  changes: Record<string, unknown>,
  signal?: AbortSignal,
): Call<Request> {
  return overlaid(signalled(call, signal), {
    get request() {
      return { ...call.request, ...changes }
    },
    field: (name: string) => (Object.hasOwn(changes, name) ? changes[name] : call.field(name)),
    json: (more: Record<string, unknown>) => call.json({ ...changes, ...more }),
    form: call.form && amendForm(call.form, changesTo(changes)),
  })
}

function signalled<Request>(call: Call<Request>, signal: AbortSignal | undefined): Call<Request> {
  return signal === undefined ? call : overlaid(call, { signal, cancellation: undefined })
}

/**
 * A copy of a call for another request, whose answer is translated back, with the fields that the host sets in every request.
 */
export function replace<Request extends object>(
  call: Call<unknown>,
  made: Request,
  signal?: AbortSignal,
): Call<Request> {
  const request = call.fixed === undefined ? made : { ...made, ...call.fixed }
  const field = (name: string) => (request as Record<string, unknown>)[name]
  const json = (more: Record<string, unknown>) => Buffer.from(JSON.stringify({ ...request, ...more }))
  const { cancellation, publicModel, stream } = call
  const own = { publicModel, stream, request, field, json, form: undefined, clientHeaders: undefined, inChunks: true }
  // Copying descriptors takes longer than all the rest.
  const isCopied = signal !== undefined || call.large === true || cancellation === undefined
  return isCopied ? overlaid(signalled(call, signal), own) : madeCall(cancellation as Canceller, call, own)
}

/** Like `replace`, for a request that may be large: then `prepare` serializes it in several turns of the event loop. */
export function replaceLarge<Request extends object>(call: Call<unknown>, made: Request): Call<Request> {
  const replaced = replace(call, made)
  if (call.large !== true) return replaced
  const { request } = replaced
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

/** The request for a vendor in its wire format, and what turns its answer back. */
import type { Conversation } from '../../conversation/conversation.ts'
import type { Answer } from '../../conversation/parts.ts'
import { givenName } from '../../formats/field-names.ts'
import type { Asked, Format, Source, Target } from '../../formats/format.ts'
import type { Stage } from '../../formats/stages/stage.ts'
import { stopAt } from '../../formats/stages/stops.ts'
import type { Model } from '../../models/contract.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { answeredError } from '../../providers/vendor-error.ts'
import type { Fields } from '../../wire/json.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { requestWithDigits } from '../digits.ts'
import type { Order } from '../endpoint.ts'
import type { Hints } from './hints.ts'
import { requireSomeTool } from './unsaid.ts'
import type { VendorWire } from './vendor-wires.ts'

/** A client's wire format, as its endpoint uses it. */
export interface ClientWire {
  // oxlint-disable-next-line typescript/no-explicit-any -- each format has its own traits
  readonly format: Format<any>
  /** Prefix of the ids of answers. */
  readonly idPrefix: string
  /** Whether the vendors' wire format of this name serves such clients too, and first. Default false. */
  readonly asksOwnName?: boolean
  /**
   * The fields of requests that a vendor of another wire need not get as they are: those that its wire can say, too, and those that
   * the gateway handles. Any other is reported to the client as omitted. Default: none is reported.
   */
  readonly covered?: ReadonlySet<string>
  /** What is left out rather than refused. Default: nothing. */
  readonly hints?: Hints
  /** Whether vendors are asked again without what they refuse, as such clients send the same fields to every model. Default false. */
  readonly asksAgain?: boolean
}

/** What a client asks a provider. */
export interface Asking {
  readonly client: ClientWire
  readonly provider: Provider
  readonly call: Call<unknown>
  readonly context: AnswerContext
  /** The fields of the request that the answer repeats. */
  readonly repeated: Fields | undefined
}

/** How the answer of the vendor becomes the client's. It holds nothing of the request. */
export interface AnswerPlan {
  readonly source: Source
  readonly stages: readonly Stage[]
  readonly asked: Asked
  /** Whether a whole answer keeps the vendor's id and time, and its name of the model. Default: nothing. */
  readonly keeps?: 'id' | 'id and model'
}

/** A request for the vendor. */
export interface Plan {
  readonly request: Fields
  /** `sent`: the request that the vendor has answered. */
  readonly answerPlan: (sent: Fields) => AnswerPlan
}

/** What every deployment of a model may use: which of them serves the request is not known here. */
export function allowedBy(model: Model | undefined): readonly string[] {
  if (model?.allow !== undefined) return model.allow
  const [first, ...others] = model?.deployments ?? []
  return (first?.allow ?? []).filter((name) => others.every(({ allow }) => allow?.includes(name) === true))
}

/** The plan for the answer of a vendor that was asked in the client's own format. */
export function ownPlan(asking: Asking, wire: VendorWire): AnswerPlan {
  const { provider, call } = asking
  return {
    source: { maker: wire.maker(provider, call), failure: failureOf(wire, call) },
    stages: [],
    asked: askedFor(asking, 'shown'),
    keeps: call.publicModel === call.model ? 'id and model' : 'id',
  }
}

function askedFor({ client, context, repeated }: Asking, reasoning: Asked['reasoning']): Asked {
  const { id, startedAt, order } = context
  return {
    id: id.replace('req_', client.idPrefix),
    created: Math.floor(startedAt / 1000),
    model: order.model,
    reasoning,
    promptTokens: order.promptTokens,
    readsLastBlock: order.readsLastBlock,
    repeated,
  }
}

/** `meant`: the conversation of the client. `conversation`: the same without what the vendor or its model refuses, which is sent. */
export function planFor(asking: Asking, wire: VendorWire, conversation: Conversation, meant: Conversation): Plan {
  const { provider, call } = asking
  const { format } = asking.client
  const { order, meter } = asking.context
  const shown = format.shownReasoning?.(meant) ?? 'shown'
  const maker = wire.maker(provider, call)
  const target: Target<unknown> = {
    model: order.model,
    maker,
    traits: wire.traits(provider, call),
    max: call.maxOutputTokens,
    shown,
    nameOf: (field) => givenName(field, format.fieldNames, call.request as Fields) ?? field,
    omit: (place) => meter.omit?.(place),
  }
  const prepared = wire.format.prepare?.(conversation, target) ?? { conversation, stages: () => [] }
  requireSomeTool(prepared.conversation, wire.format.name, order.model)
  const clientCalls = format.clientCalls?.(meant)
  return {
    request: wire.format.writeRequest(prepared.conversation, target),
    answerPlan(sent) {
      const stops = wire.format.stopsIn(sent)
      const others = (meant.settings.stops ?? []).filter((stop) => !stops.includes(stop))
      return {
        source: { maker, stops, failure: failureOf(wire, call) },
        stages: [
          ...prepared.stages(),
          ...(others.length === 0 ? [] : [stopAt(others)]),
          ...(clientCalls === undefined ? [] : [clientCalls]),
        ],
        asked: askedFor(asking, shown),
      }
    },
  }
}

/** Whose whole answer is written. */
export function namedBy({ id, created, model }: Answer, { asked, keeps }: AnswerPlan): Asked {
  if (keeps === undefined) return asked
  const named = { ...asked, id: id ?? asked.id, created: created ?? asked.created }
  return keeps === 'id' || model === undefined ? named : { ...named, model }
}

/** The request, with large integers as they were written. */
export function bodyWithDigits(call: Call<unknown>, { hasLongNumber }: Order<unknown>): Fields {
  if (hasLongNumber !== true) return call.request as Fields
  return requestWithDigits(call) ?? (call.request as Fields)
}

/** Does not hold the call, whose request may be long. */
function failureOf(wire: VendorWire, { openModel, field }: Call<unknown>): (error: unknown) => Error {
  return (error) => answeredError(error, { openModel, field }, wire.faults)
}

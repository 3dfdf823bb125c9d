/** Conversion of a chat's chunks to the events of a response. */
import type { ChatChunk, ChunkChoice, Delta, FinishReason, ToolCallDelta } from '../../../wire/chat.ts'
import type { OutputItem, ResponseEvent, ResponseObject, ResponseUsage } from '../../../wire/responses.ts'
import { CallQueue, type QueuedCall } from '../../call-queue.ts'
import { append, stateFields, sealState } from '../../model-state.ts'
import { OpenCall } from './open-call.ts'
import type { ItemStatus, OpenItem, Place } from './open-item.ts'
import { OpenMessage } from './open-message.ts'
import { OpenReasoning } from './open-reasoning.ts'
import type { ChatTools } from './tools.ts'

/** Options of `ResponseWriter`. */
export interface WriterOptions {
  /** The response without output. */
  readonly empty: ResponseObject
  readonly chatTools: ChatTools
  /** Whether reasoning is sent as a summary. */
  readonly summary: boolean
  /** The vendor, which gets the state back. */
  readonly maker: string
  /** The current time in milliseconds since the epoch. */
  readonly now: () => number
}

const prefixes = { message: 'msg', reasoning: 'rs', function: 'fc', custom: 'ctc' } as const

/**
 * Writes the events of a response. Items are in the order in which the model started them; each is closed before the
 * next is opened, and the last event contains exactly the closed ones.
 */
export class ResponseWriter {
  readonly #options: WriterOptions
  readonly #output: OutputItem[] = []
  readonly #calls = new CallQueue()
  #open: { readonly kind: 'message' | 'reasoning' | 'call'; readonly item: OpenItem; readonly place: Place } | undefined
  #finish: FinishReason = 'stop'
  /** State fields of the message that no item contains yet. */
  #messageFields: Record<string, unknown> = {}
  readonly #callFields = new Map<string, Record<string, unknown>>()
  /** What the model says while it writes calls. */
  #late: (() => ResponseEvent[])[] = []

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** The first events. */
  begin(): ResponseEvent[] {
    const { empty } = this.#options
    return ['response.created', 'response.in_progress'].map((type) => ({ type, response: empty }))
  }

  /** The events for a chunk. */
  accept({ choices = [] }: ChatChunk): ResponseEvent[] {
    const choice = choices.find(({ index = 0 }) => index === 0)
    if (choice === undefined) return []
    const events = this.#delta(choice.delta ?? {}, choice)
    if (choice.finish_reason) this.#finish = choice.finish_reason as FinishReason
    return events
  }

  /** The last events. `serviceTier`: as reported; default: as requested. */
  end(usage: ResponseUsage | null, serviceTier?: string): ResponseEvent[] {
    const { empty, now } = this.#options
    const reason = incompleteReasons[this.#finish]
    const events = [
      ...this.#writeCalls(true),
      ...this.#close(reason === undefined ? 'completed' : 'incomplete'),
      ...this.#writeLate(),
      ...this.#close(reason === undefined ? 'completed' : 'incomplete'),
      ...this.#remainingState(),
    ]
    const response: ResponseObject = {
      ...empty,
      status: reason === undefined ? 'completed' : 'incomplete',
      completed_at: reason === undefined ? Math.floor(now() / 1000) : null,
      incomplete_details: reason === undefined ? null : { reason },
      output: this.#output,
      usage,
      ...(serviceTier !== undefined && { service_tier: serviceTier }),
    }
    return [...events, { type: `response.${response.status}`, response }]
  }

  #delta(delta: Delta, { logprobs }: ChunkChoice): ResponseEvent[] {
    const { role: _, content, refusal, tool_calls: calls, annotations, reasoning_content: standard, reasoning } = delta
    const events: ResponseEvent[] = []
    const thinking = standard || reasoning
    if (typeof thinking === 'string' && thinking !== '')
      events.push(...this.#writeReasoning(thinking, standard ? 'reasoning_content' : 'reasoning'))
    append(this.#messageFields, stateFields(delta))
    if (content) events.push(...this.#writeMessage((message) => message.text(content, logprobsIn(logprobs))))
    if (refusal) events.push(...this.#writeMessage((message) => message.refusal(refusal)))
    for (const each of Array.isArray(annotations) ? (annotations as unknown[]) : []) {
      events.push(...this.#writeMessage((message) => message.annotation(flatAnnotation(each))))
    }
    for (const piece of calls ?? []) events.push(...this.#call(piece))
    return events
  }

  #writeReasoning(text: string, field: string): ResponseEvent[] {
    if (this.#isWriting) return this.#wait(() => this.#writeReasoning(text, field))
    append(this.#messageFields, { [field]: text })
    const { events, item } = this.#reopened('reasoning', (place) => new OpenReasoning(place, this.#options.summary))
    return [...events, ...(item as OpenReasoning).text(text)]
  }

  #writeMessage(write: (message: OpenMessage) => ResponseEvent[]): ResponseEvent[] {
    if (this.#isWriting) return this.#wait(() => this.#writeMessage(write))
    const { events, item } = this.#reopened('message', (place) => new OpenMessage(place))
    return [...events, ...write(item as OpenMessage)]
  }

  /** The open item if it is of this kind; else a new one, after closing the open one. */
  #reopened(kind: 'message' | 'reasoning', create: (place: Place) => OpenItem) {
    if (this.#open?.kind === kind) return { events: [], item: this.#open.item }
    const before = [...this.#writeCalls(true), ...this.#close('completed')]
    const { events, item } = this.#start(kind, prefixes[kind], create)
    return { events: [...before, ...events], item }
  }

  #start<Item extends OpenItem>(
    kind: 'message' | 'reasoning' | 'call',
    prefix: string,
    create: (place: Place) => Item,
  ) {
    const index = this.#output.length
    const id = `${prefix}_${this.#options.empty.id.replace('resp_', '')}${index.toString(16).padStart(2, '0')}`
    const place = { item_id: id, output_index: index }
    const item = create(place)
    this.#open = { kind, item, place }
    const added = { type: 'response.output_item.added', output_index: index, item: item.item('in_progress') }
    return { events: [added] as ResponseEvent[], item }
  }

  #close(status: ItemStatus): ResponseEvent[] {
    const open = this.#open
    if (open === undefined) return []
    this.#open = undefined
    const { item, place } = open
    if (item instanceof OpenReasoning) this.#addState(item)
    this.#calls.close()
    const events = item.close()
    const whole = item.item(status)
    this.#output.push(whole)
    return [...events, { type: 'response.output_item.done', output_index: place.output_index, item: whole }]
  }

  #call(piece: ToolCallDelta): ResponseEvent[] {
    const { id } = this.#calls.add(piece)
    const fields = stateFields(piece)
    if (Object.keys(fields).length > 0) {
      const known = this.#callFields.get(id) ?? {}
      append(known, fields)
      this.#callFields.set(id, known)
    }
    const events = this.#writeCalls(false)
    return this.#late.length === 0 || this.#calls.isWriting ? events : [...events, ...this.#writeLate()]
  }

  get #isWriting(): boolean {
    return this.#open?.kind === 'call' && this.#calls.isWriting
  }

  #wait(write: () => ResponseEvent[]): ResponseEvent[] {
    this.#late.push(write)
    return []
  }

  #writeLate(): ResponseEvent[] {
    return this.#late.splice(0).flatMap((write) => write())
  }

  /** `force`: also calls after an incomplete one, because no more of it is expected. */
  #writeCalls(force: boolean): ResponseEvent[] {
    const events = this.#writeArguments()
    for (let next = this.#calls.next(force); next !== undefined; next = this.#calls.next(force)) {
      events.push(...this.#openCall(next), ...this.#writeArguments())
    }
    return events
  }

  #writeArguments(): ResponseEvent[] {
    const item = this.#open?.item
    return item instanceof OpenCall ? item.arguments(this.#calls.take()) : []
  }

  #openCall(call: QueuedCall): ResponseEvent[] {
    const tool = this.#options.chatTools.identityOf(call.name)
    const before = this.#close('completed')
    const { events } = this.#start('call', prefixes[tool.kind], (place) => new OpenCall(place, call.id, tool))
    this.#calls.open(call)
    return [...before, ...events]
  }

  #addState(reasoning: OpenReasoning): void {
    const message = this.#messageFields
    if (Object.keys(message).length > 0) reasoning.encrypt(sealState(this.#options.maker, { message }))
    this.#messageFields = {}
  }

  /** State that arrived after the reasoning, such as the signature of a call, in an additional item. */
  #remainingState(): ResponseEvent[] {
    if (Object.keys(this.#messageFields).length === 0 && this.#callFields.size === 0) return []
    const { events, item } = this.#start('reasoning', prefixes.reasoning, (place) => new OpenReasoning(place, true))
    const message = this.#messageFields
    this.#messageFields = {}
    item.encrypt(sealState(this.#options.maker, { message, calls: Object.fromEntries(this.#callFields), last: true }))
    return [...events, ...this.#close('completed')]
  }
}

const incompleteReasons: Partial<Record<FinishReason, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

function logprobsIn(logprobs: unknown): readonly unknown[] {
  const { content } = Object(logprobs) as { content?: unknown }
  return Array.isArray(content) ? content : []
}

/** A chat nests the fields of a citation in `url_citation`, a response does not. */
function flatAnnotation(annotation: unknown): unknown {
  const { type, url_citation: citation } = Object(annotation) as { type?: string; url_citation?: object }
  return type === 'url_citation' && citation !== undefined ? { type, ...citation } : annotation
}

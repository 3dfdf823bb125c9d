/**
 * The chunks of a chat → the events of a response. Items stand in the order in which the model began them, one is
 * closed before the next is opened, and the last event holds exactly those that were closed.
 */
import type { ChatChunk, ChunkChoice, Delta, FinishReason, ToolCallDelta } from '../../../wire/chat.ts'
import type { OutputItem, ResponseEvent, ResponseObject, ResponseUsage } from '../../../wire/responses.ts'
import { CallQueue, type QueuedCall } from './call-queue.ts'
import { carriedFields, continued, pack } from './opaque.ts'
import { OpenCall } from './open-call.ts'
import type { ItemStatus, OpenItem, Place } from './open-item.ts'
import { OpenMessage } from './open-message.ts'
import { OpenReasoning } from './open-reasoning.ts'
import type { ToolBook } from './tools.ts'

export interface WriterOptions {
  /** The response before anything has come of it. */
  readonly blank: ResponseObject
  readonly book: ToolBook
  /** Show what the model thinks as a summary. */
  readonly summary: boolean
  /** Who can read what the model needs to see again. */
  readonly maker: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const prefixes = { message: 'msg', reasoning: 'rs', function: 'fc', custom: 'ctc' } as const

export class ResponseWriter {
  readonly #options: WriterOptions
  readonly #output: OutputItem[] = []
  readonly #calls = new CallQueue()
  #open: { readonly kind: 'message' | 'reasoning' | 'call'; readonly item: OpenItem; readonly place: Place } | undefined
  #finish: FinishReason = 'stop'
  /** Fields of the message that have not been carried yet, and of its calls. */
  #message: Record<string, unknown> = {}
  readonly #callFields = new Map<string, Record<string, unknown>>()

  constructor(options: WriterOptions) {
    this.#options = options
  }

  begin(): ResponseEvent[] {
    const { blank } = this.#options
    return ['response.created', 'response.in_progress'].map((type) => ({ type, response: blank }))
  }

  accept({ choices = [] }: ChatChunk): ResponseEvent[] {
    const choice = choices.find(({ index = 0 }) => index === 0)
    if (choice === undefined) return []
    const events = this.#delta(choice.delta ?? {}, choice)
    if (choice.finish_reason) this.#finish = choice.finish_reason as FinishReason
    return events
  }

  end(usage: ResponseUsage | null): ResponseEvent[] {
    const { blank, now } = this.#options
    const reason = incompleteReasons[this.#finish]
    const events = [
      ...this.#tellCalls(true),
      ...this.#close(reason === undefined ? 'completed' : 'incomplete'),
      ...this.#leftOver(),
    ]
    const response: ResponseObject = {
      ...blank,
      status: reason === undefined ? 'completed' : 'incomplete',
      completed_at: reason === undefined ? Math.floor(now() / 1000) : null,
      incomplete_details: reason === undefined ? null : { reason },
      output: this.#output,
      usage,
    }
    return [...events, { type: `response.${response.status}`, response }]
  }

  #delta(delta: Delta, { logprobs }: ChunkChoice): ResponseEvent[] {
    const { role: _, content, refusal, tool_calls: calls, annotations, reasoning_content: thought, reasoning } = delta
    const events: ResponseEvent[] = []
    const thinking = thought || reasoning
    if (typeof thinking === 'string' && thinking !== '')
      events.push(...this.#think(thinking, thought ? 'reasoning_content' : 'reasoning'))
    continued(this.#message, carriedFields(delta))
    if (content) events.push(...this.#say((message) => message.text(content, logprobsIn(logprobs))))
    if (refusal) events.push(...this.#say((message) => message.refusal(refusal)))
    for (const each of Array.isArray(annotations) ? (annotations as unknown[]) : []) {
      events.push(...this.#say((message) => message.annotation(flatAnnotation(each))))
    }
    for (const piece of calls ?? []) events.push(...this.#call(piece))
    return events
  }

  #think(text: string, field: string): ResponseEvent[] {
    continued(this.#message, { [field]: text })
    const { events, item } = this.#reopened('reasoning', (place) => new OpenReasoning(place, this.#options.summary))
    return [...events, ...(item as OpenReasoning).text(text)]
  }

  #say(write: (message: OpenMessage) => ResponseEvent[]): ResponseEvent[] {
    const { events, item } = this.#reopened('message', (place) => new OpenMessage(place))
    return [...events, ...write(item as OpenMessage)]
  }

  /** The open item if it is of this kind; else a new one, after everything before it was closed. */
  #reopened(kind: 'message' | 'reasoning', create: (place: Place) => OpenItem) {
    if (this.#open?.kind === kind) return { events: [], item: this.#open.item }
    const before = [...this.#tellCalls(true), ...this.#close('completed')]
    const { events, item } = this.#begun(kind, prefixes[kind], create)
    return { events: [...before, ...events], item }
  }

  #begun<Item extends OpenItem>(
    kind: 'message' | 'reasoning' | 'call',
    prefix: string,
    create: (place: Place) => Item,
  ) {
    const index = this.#output.length
    const id = `${prefix}_${this.#options.blank.id.replace('resp_', '')}${index.toString(16).padStart(2, '0')}`
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
    if (item instanceof OpenReasoning) this.#carryIn(item)
    this.#calls.close()
    const events = item.close()
    const whole = item.item(status)
    this.#output.push(whole)
    return [...events, { type: 'response.output_item.done', output_index: place.output_index, item: whole }]
  }

  #call(piece: ToolCallDelta): ResponseEvent[] {
    const { id } = this.#calls.add(piece)
    const fields = carriedFields(piece)
    if (Object.keys(fields).length > 0) {
      const sofar = this.#callFields.get(id) ?? {}
      continued(sofar, fields)
      this.#callFields.set(id, sofar)
    }
    return this.#tellCalls(false)
  }

  /** `anyway`: also those behind a call that is not whole, for nothing more will come of it. */
  #tellCalls(anyway: boolean): ResponseEvent[] {
    const events = this.#tell()
    for (let next = this.#calls.next(anyway); next !== undefined; next = this.#calls.next(anyway)) {
      events.push(...this.#openCall(next), ...this.#tell())
    }
    return events
  }

  #tell(): ResponseEvent[] {
    const item = this.#open?.item
    return item instanceof OpenCall ? item.arguments(this.#calls.take()) : []
  }

  #openCall(call: QueuedCall): ResponseEvent[] {
    const tool = this.#options.book.identityOf(call.name)
    const before = this.#close('completed')
    const { events } = this.#begun('call', prefixes[tool.kind], (place) => new OpenCall(place, call.id, tool))
    this.#calls.open(call)
    return [...before, ...events]
  }

  #carryIn(reasoning: OpenReasoning): void {
    const message = this.#message
    if (Object.keys(message).length > 0) reasoning.carry(pack(this.#options.maker, { message }))
    this.#message = {}
  }

  /** What came behind the reasoning, such as the signature of a call, goes into an item of its own. */
  #leftOver(): ResponseEvent[] {
    if (Object.keys(this.#message).length === 0 && this.#callFields.size === 0) return []
    const { events, item } = this.#begun('reasoning', prefixes.reasoning, (place) => new OpenReasoning(place, true))
    const message = this.#message
    this.#message = {}
    item.carry(pack(this.#options.maker, { message, calls: Object.fromEntries(this.#callFields), last: true }))
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

/** A chat nests what a response has flat. */
function flatAnnotation(annotation: unknown): unknown {
  const { type, url_citation: citation } = Object(annotation) as { type?: string; url_citation?: object }
  return type === 'url_citation' && citation !== undefined ? { type, ...citation } : annotation
}

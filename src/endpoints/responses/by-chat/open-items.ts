/** The items of an answer while they are written: each opens, grows and closes, and tells of it in events. */
import type { OutputItem, ResponseEvent, ResponsePart } from '../../../wire/responses.ts'
import { outputText } from '../items.ts'
import { customField, type ToolIdentity } from './tools.ts'

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Where an item stands. */
export interface Place {
  readonly item_id: string
  readonly output_index: number
}

export interface OpenItem {
  /** The events that close what is open inside; the item itself is closed by who opened it. */
  close(): ResponseEvent[]
  item(status: ItemStatus): OutputItem
}

/** Text, and perhaps a refusal behind it: each kind is a part of its own. */
export class OpenMessage implements OpenItem {
  readonly #place: Place
  readonly #parts: ResponsePart[] = []
  #annotations: unknown[] = []
  #logprobs: unknown[] = []
  #kind: 'text' | 'refusal' | undefined
  #text = ''

  constructor(place: Place) {
    this.#place = place
  }

  text(delta: string, logprobs: readonly unknown[]): ResponseEvent[] {
    const events = this.#begin('text')
    this.#text += delta
    this.#logprobs.push(...logprobs)
    return [...events, { type: 'response.output_text.delta', ...this.#at, delta, logprobs }]
  }

  refusal(delta: string): ResponseEvent[] {
    const events = this.#begin('refusal')
    this.#text += delta
    return [...events, { type: 'response.refusal.delta', ...this.#at, delta }]
  }

  annotation(annotation: unknown): ResponseEvent[] {
    const events = this.#begin('text')
    const index = this.#annotations.push(annotation) - 1
    return [
      ...events,
      { type: 'response.output_text.annotation.added', ...this.#at, annotation_index: index, annotation },
    ]
  }

  close(): ResponseEvent[] {
    if (this.#kind === undefined) return []
    const text = this.#text
    const part = this.#part()
    const done: ResponseEvent =
      this.#kind === 'text'
        ? { type: 'response.output_text.done', ...this.#at, text, logprobs: this.#logprobs }
        : { type: 'response.refusal.done', ...this.#at, refusal: text }
    const events = [done, { type: 'response.content_part.done', ...this.#at, part }]
    this.#parts.push(part)
    this.#kind = undefined
    this.#text = ''
    return events
  }

  item(status: ItemStatus): OutputItem {
    return { id: this.#place.item_id, type: 'message', status, content: [...this.#parts], role: 'assistant' }
  }

  get #at() {
    return { ...this.#place, content_index: this.#parts.length }
  }

  #begin(kind: 'text' | 'refusal'): ResponseEvent[] {
    if (this.#kind === kind) return []
    const events = this.close()
    this.#kind = kind
    this.#annotations = []
    this.#logprobs = []
    return [...events, { type: 'response.content_part.added', ...this.#at, part: this.#part() }]
  }

  #part(): ResponsePart {
    if (this.#kind === 'refusal') return { type: 'refusal', refusal: this.#text }
    return { ...outputText(this.#text), annotations: [...this.#annotations], logprobs: [...this.#logprobs] }
  }
}

/** What the model thinks: as a summary to those who asked for one, else as what it is. */
export class OpenReasoning implements OpenItem {
  readonly #place: Place
  readonly #summary: boolean
  #text = ''
  #opaque: string | undefined

  constructor(place: Place, summary: boolean) {
    this.#place = place
    this.#summary = summary
  }

  text(delta: string): ResponseEvent[] {
    const events = this.#text === '' ? [this.#event('added')] : []
    this.#text += delta
    const kind = this.#summary ? 'response.reasoning_summary_text' : 'response.reasoning_text'
    return [...events, { type: `${kind}.delta`, ...this.#at, delta }]
  }

  /** What only the model can read. */
  carry(opaque: string): void {
    this.#opaque = opaque
  }

  close(): ResponseEvent[] {
    if (this.#text === '') return []
    const kind = this.#summary ? 'response.reasoning_summary_text' : 'response.reasoning_text'
    return [{ type: `${kind}.done`, ...this.#at, text: this.#text }, this.#event('done')]
  }

  item(): OutputItem {
    const parts = this.#text === '' ? [] : [this.#part]
    return {
      id: this.#place.item_id,
      type: 'reasoning',
      summary: this.#summary ? parts : [],
      ...(!this.#summary && parts.length > 0 && { content: parts }),
      ...(this.#opaque !== undefined && { encrypted_content: this.#opaque }),
    }
  }

  get #at() {
    return { ...this.#place, ...(this.#summary ? { summary_index: 0 } : { content_index: 0 }) }
  }

  get #part(): ResponsePart {
    return { type: this.#summary ? 'summary_text' : 'reasoning_text', text: this.#text }
  }

  #event(what: 'added' | 'done'): ResponseEvent {
    const kind = this.#summary ? 'response.reasoning_summary_part' : 'response.content_part'
    return { type: `${kind}.${what}`, ...this.#at, part: this.#part }
  }
}

/** A call of a tool. The input of a custom one is only known when it is whole: it comes wrapped in JSON. */
export class OpenCall implements OpenItem {
  readonly #place: Place
  readonly #callId: string
  readonly #tool: ToolIdentity
  #text = ''
  #closed = false

  constructor(place: Place, callId: string, tool: ToolIdentity) {
    this.#place = place
    this.#callId = callId
    this.#tool = tool
  }

  arguments(delta: string): ResponseEvent[] {
    this.#text += delta
    if (delta === '' || this.#tool.kind === 'custom') return []
    return [{ type: 'response.function_call_arguments.delta', ...this.#place, delta }]
  }

  close(): ResponseEvent[] {
    this.#closed = true
    if (this.#tool.kind === 'function') {
      const { name } = this.#tool
      // Clients parse the arguments of every call, also of one that needs none.
      const events = this.#text === '' ? this.arguments('{}') : []
      return [...events, { type: 'response.function_call_arguments.done', ...this.#place, name, arguments: this.#text }]
    }
    const input = this.#input
    return [
      { type: 'response.custom_tool_call_input.delta', ...this.#place, delta: input },
      { type: 'response.custom_tool_call_input.done', ...this.#place, input },
    ]
  }

  item(status: ItemStatus): OutputItem {
    const { kind, name, namespace } = this.#tool
    const head = {
      id: this.#place.item_id,
      status,
      call_id: this.#callId,
      name,
      ...(namespace !== undefined && { namespace }),
    }
    if (kind === 'function') return { ...head, type: 'function_call', arguments: this.#text }
    return { ...head, type: 'custom_tool_call', input: this.#closed ? this.#input : '' }
  }

  get #input(): string {
    const value = parsed(this.#text)
    const input = (Object(value) as Record<string, unknown>)[customField]
    return typeof input === 'string' ? input : this.#text
  }
}

/** Undefined for what is no JSON, or not yet. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

import { thinkingIn } from '../../formats/chat/content.ts'
import { finishOf } from '../../formats/chat/ends.ts'
import type { ChatChunk, ChunkChoice, Delta, FinishReason } from '../../wire/chat.ts'
import { StateSealer, mayHoldState } from './seal-state.ts'
import { ToolCalls } from '../../formats/chat/tool-calls.ts'

/** Normalises the deltas of one choice of a chat response, whichever vendor they come from. */
export class ChoiceState {
  readonly index: number
  finished: FinishReason | undefined
  #started = false
  /** The field in which the vendor sends new content; undefined until it has sent some. */
  #place: 'delta' | 'message' | undefined
  #calls: ToolCalls | undefined
  readonly #maker: string | undefined
  #sealer: StateSealer | undefined

  /** `maker`: the name in envelopes; default: none are made. */
  constructor(index: number, maker?: string) {
    this.index = index
    this.#maker = maker
  }

  get hasCalls(): boolean {
    return this.#calls?.any === true
  }

  /** The client's chunk choices for one of the vendor's: none, one or several, as content and end are separate. */
  accept(choice: ChunkChoice): ChunkChoice[] {
    // Some vendors repeat the end, or send pieces after it.
    if (this.finished !== undefined) return []
    const { delta: raw, message, finish_reason: vendorReason, index: _, ...rest } = choice
    const out: ChunkChoice[] = []
    const delta = this.#deltaOf(this.#newIn(raw, message))
    const hasContent = delta !== undefined || Boolean(rest.logprobs)
    if (hasContent) out.push({ index: this.index, delta: delta ?? {}, logprobs: null, ...rest, finish_reason: null })
    const reason = finishOf(vendorReason)
    if (reason !== undefined) out.push(...this.finish(reason, hasContent ? { ...rest, logprobs: null } : rest))
    return out
  }

  /** The role alone, which otherwise is part of the first delta. */
  open(): ChunkChoice[] {
    return [{ index: this.index, delta: this.#opened({}, ''), logprobs: null, finish_reason: null }]
  }

  /** The end of the choice, with `rest` as its further fields. */
  finish(reason: FinishReason, rest: Partial<ChunkChoice> = {}): ChunkChoice[] {
    this.finished = reason
    const out: ChunkChoice[] = []
    const calls = this.#calls?.finish() ?? []
    const last = this.#sealed(calls.length > 0 ? { tool_calls: calls } : {})
    const details = this.#sealer?.rest() ?? []
    if (!this.#started || calls.length > 0 || details.length > 0) {
      const delta = this.#opened(details.length > 0 ? { ...last, reasoning_details: details } : last, '')
      out.push({ index: this.index, delta, logprobs: null, finish_reason: null })
    }
    out.push({ index: this.index, delta: {}, logprobs: null, ...rest, finish_reason: reason })
    return out
  }

  /** The new content. Vendors that send both fields repeat in `message` what their deltas contained. */
  #newIn(delta: Delta | undefined, message: Delta | undefined): Delta {
    this.#place ??= delta ? 'delta' : message ? 'message' : undefined
    return (this.#place === 'message' ? message : delta) ?? {}
  }

  #deltaOf(raw: Delta): Delta | undefined {
    const { role: _, content, tool_calls: calls, ...rest } = raw
    const delta: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(rest)) if (value !== null && value !== '') delta[name] = value
    const parts = Array.isArray(content) ? partsOf(content) : { content, thinking: undefined }
    if (parts.thinking) delta['reasoning_content'] = parts.thinking
    if (typeof parts.content === 'string' && parts.content !== '') delta['content'] = parts.content
    const pieces = calls?.length ? (this.#calls ??= new ToolCalls()).accept(calls) : []
    if (pieces.length > 0) delta['tool_calls'] = pieces
    if (!this.#started) return this.#opened(this.#sealed(delta), calls?.length || content === null ? null : '')
    return Object.keys(delta).length === 0 ? undefined : this.#sealed(delta)
  }

  #sealed(delta: Delta): Delta {
    if (this.#maker === undefined || !mayHoldState(delta)) return delta
    return (this.#sealer ??= new StateSealer(this.#maker)).sealed(delta)
  }

  /** The delta with the role, if it is the first one. `emptyContent`: its `content` if the delta is empty. */
  #opened(delta: Delta, emptyContent: '' | null): Delta {
    if (this.#started) return delta
    this.#started = true
    return { role: 'assistant', content: Object.keys(delta).length === 0 ? emptyContent : null, ...delta }
  }
}

/** Whether a chunk has content or a finish reason, and not only a role. */
export function hasContent({ choices }: ChatChunk): boolean {
  return (choices ?? []).some(({ delta, message, finish_reason: reason }) => {
    const { role: _, ...content } = delta ?? message ?? {}
    return Boolean(reason) || Object.values(content).some((value) => (value ?? '') !== '')
  })
}

/** The texts of content in Mistral's format: a list of text and thinking parts. */
export function partsOf(content: readonly unknown[]): { content: string | undefined; thinking: string | undefined } {
  let text: string | undefined
  let thinking: string | undefined
  for (const part of content as { type?: string; text?: string; thinking?: unknown }[]) {
    if (part?.type === 'text' && typeof part.text === 'string') text = (text ?? '') + part.text
    else if (part?.type === 'thinking') thinking = (thinking ?? '') + thinkingIn(part.thinking)
  }
  return { content: text, thinking }
}

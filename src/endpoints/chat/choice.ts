/** One choice of a chat answer while its pieces arrive: brings every vendor's deltas into the one form clients expect. */
import { randomBytes } from 'node:crypto'
import { unavailable } from '../../providers/failure.ts'
import type { ChunkChoice, Delta, FinishReason, ToolCallDelta } from '../../wire/chat.ts'

interface OpenCall {
  readonly index: number
  id: string
  named: boolean
  /** Bytes of arguments sent so far. */
  sent: number
  /** Arguments that came before the name. */
  held: string
}

export class ChoiceState {
  readonly index: number
  finished: FinishReason | undefined
  #begun = false
  /** The calls by the vendor's own numbering, which restarts, skips and repeats. */
  readonly #calls = new Map<string, OpenCall>()
  #callCount = 0

  constructor(index: number) {
    this.index = index
  }

  get hasCalls(): boolean {
    return this.#callCount > 0
  }

  /** What clients get for a piece of this choice: none, one, or (content and finish apart) several chunk choices. */
  accept(choice: ChunkChoice): ChunkChoice[] {
    // A finished choice says nothing more: repeated ends and late pieces are dropped.
    if (this.finished !== undefined) return []
    const out: ChunkChoice[] = []
    const delta = this.#deltaOf(choice.delta ?? {})
    if (delta !== undefined || choice.logprobs) {
      const { finish_reason: _, delta: __, index: ___, ...rest } = choice
      out.push({ index: this.index, delta: delta ?? {}, logprobs: null, ...rest, finish_reason: null })
    }
    const reason = finishOf(choice.finish_reason)
    if (reason !== undefined) out.push(...this.finish(reason))
    return out
  }

  /** The end of the choice. Calls that never got arguments get the empty object, as clients parse them. */
  finish(reason: FinishReason): ChunkChoice[] {
    this.finished = reason
    const out: ChunkChoice[] = []
    for (const call of this.#calls.values()) {
      if (call.named && call.sent === 0) {
        out.push(this.#chunk({ tool_calls: [{ index: call.index, function: { arguments: '{}' } }] }))
      }
    }
    out.push({ index: this.index, delta: {}, logprobs: null, finish_reason: reason })
    return out
  }

  #chunk(delta: Delta): ChunkChoice {
    return { index: this.index, delta, logprobs: null, finish_reason: null }
  }

  #deltaOf(raw: Delta): Delta | undefined {
    const { role: _, content, tool_calls: calls, ...rest } = raw
    const delta: Record<string, unknown> = this.#begun ? {} : { role: 'assistant' }
    const opening = !this.#begun
    this.#begun = true
    for (const [name, value] of Object.entries(rest)) if (value !== null && value !== '') delta[name] = value
    const parts = Array.isArray(content) ? partsOf(content) : { content, thinking: undefined }
    if (parts.thinking) delta['reasoning_content'] = parts.thinking
    if (typeof parts.content === 'string' && (parts.content !== '' || opening)) delta['content'] = parts.content
    const pieces = (calls ?? []).flatMap((piece, position) => this.#callPiece(piece, position))
    if (pieces.length > 0) delta['tool_calls'] = pieces
    if (opening && delta['content'] === undefined) delta['content'] = pieces.length > 0 ? null : ''
    return Object.keys(delta).length === 0 ? undefined : delta
  }

  #callPiece(piece: ToolCallDelta, position: number): ToolCallDelta[] {
    const key = String(piece.index ?? `at ${position}`)
    const id = piece.id || undefined
    const custom = piece['custom'] as { name?: string; input?: string } | undefined
    const name = piece.function?.name || custom?.name || undefined
    let call = this.#calls.get(key)
    // The same number with another id and a name is another call: some vendors number every call 0.
    if (call === undefined || (id !== undefined && name !== undefined && call.named && id !== call.id)) {
      call = { index: this.#callCount++, id: id ?? '', named: false, sent: 0, held: '' }
      if (this.#calls.has(key)) this.#calls.set(`${key} before ${call.index}`, this.#calls.get(key) as OpenCall)
      this.#calls.set(key, call)
    }
    if (call.id === '' && id !== undefined) call.id = id
    const text = call.held + (custom?.input ?? argumentsOf(piece.function?.arguments))
    call.held = ''
    if (!call.named && name === undefined) {
      call.held = text
      return []
    }
    const { id: _, index: __, type: ___, function: ____, custom: _____, ...rest } = piece
    const payload = custom === undefined ? { arguments: text } : { input: text }
    const kind = custom === undefined ? 'function' : 'custom'
    if (!call.named) {
      call.named = true
      call.id ||= newCallId()
      call.sent = text.length
      return [{ index: call.index, id: call.id, type: kind, [kind]: { name, ...payload }, ...rest }]
    }
    call.sent += text.length
    return text === '' && Object.keys(rest).length === 0 ? [] : [{ index: call.index, [kind]: payload, ...rest }]
  }
}

export function newCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`
}

/** Arguments are JSON text; some vendors send the object itself, null, or nothing. */
export function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** Mistral's form of content: a list of text and thinking parts. */
export function partsOf(content: readonly unknown[]): { content: string | undefined; thinking: string | undefined } {
  let text: string | undefined
  let thinking: string | undefined
  for (const part of content as { type?: string; text?: string; thinking?: unknown }[]) {
    if (part?.type === 'text' && typeof part.text === 'string') text = (text ?? '') + part.text
    else if (part?.type === 'thinking') {
      const inner = Array.isArray(part.thinking) ? partsOf(part.thinking).content : part.thinking
      if (typeof inner === 'string') thinking = (thinking ?? '') + inner
    }
  }
  return { content: text, thinking }
}

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  function_call: 'function_call',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  safety: 'content_filter',
}

/** Undefined for none or an empty one; a reason that only the vendor knows counts as a plain stop. */
export function finishOf(reason: unknown): FinishReason | undefined {
  if (typeof reason !== 'string' || reason === '') return undefined
  if (reason === 'error') throw unavailable('same', new Error('the vendor ended the answer with finish_reason "error"'))
  return finishes[reason] ?? 'stop'
}

/** Reads the deltas of one choice of a streamed chat. */
import { hasStateFields, append, stateFields } from '../model-state.ts'
import { isRecord, itemsOf } from '../../wire/json.ts'
import type { FinishReason, ToolCallDelta } from '../../wire/chat.ts'
import type { Citation, Fields, MediaBlock, TokenLogprob } from '../../conversation/conversation.ts'
import { others, ownOf } from '../../conversation/own.ts'
import type { Part } from '../../conversation/parts.ts'
import type { Source } from '../format.ts'
import { newCallId } from '../tools.ts'
import { audioOf, imageOf } from './answer-media.ts'
import { readAnnotation, readSearch } from './citations.ts'
import { thinkingIn } from './content.ts'
import { endOf, finishOf } from './ends.ts'
import { tokensIn } from './logprobs.ts'
import { callState, messageState, type ReasoningField } from './states.ts'
import { ToolCalls } from './tool-calls.ts'
import { toolId } from '../messages/tool-id.ts'

/** Blocks have numbers that count through all choices. */
export interface BlockCount {
  blocks: number
}

interface OpenCall {
  readonly block: number
  readonly id: string
  ended: boolean
}

type Kind = 'text' | 'reasoning' | 'refusal' | 'audio' | 'other'

const callFields = new Set(['id', 'type', 'function', 'custom', 'index', 'extra_content'])
const choiceFields = new Set(['index', 'delta', 'message', 'logprobs', 'finish_reason', 'stop_reason', 'matched_stop'])

/** The fields of messages that blocks have. */
const messageFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
  'extra_content',
  'annotations',
  'images',
  'audio',
])

export class ChoiceReader {
  readonly #choice: number
  readonly #from: Source
  readonly #count: BlockCount
  #calls: ToolCalls | undefined
  /** By the index that `ToolCalls` gives. */
  readonly #open: OpenCall[] = []
  /** The open block: another kind begins another one. */
  #kind: Kind | undefined
  #block = -1
  /** The last text: what is said of texts may come after other blocks. */
  #text = -1
  #textBegin = 0
  #textEnd = 0
  #citations = 0
  /** The field in which the vendor sends new content: some repeat in `message` what their deltas contained. */
  #place: 'delta' | 'message' | undefined
  /** What the vendor wants back with the open block. */
  #state: Record<string, unknown> = {}
  #callState: Record<string, Fields> | undefined
  #hasState = false
  #field: ReasoningField | undefined
  /** Tokens whose text has not come yet. */
  #tokens: readonly TokenLogprob[] | undefined
  #hasLegacyCall = false
  #isOver = false

  constructor(choice: number, from: Source, count: BlockCount) {
    this.#choice = choice
    this.#from = from
    this.#count = count
  }

  /** Some vendors repeat the end, or send pieces after it. `search`: of the whole answer. */
  read(raw: Fields, search: Fields | undefined, out: Part[]): void {
    if (this.#isOver) return
    const value = others(raw, choiceFields)
    if (value !== undefined) out.push({ kind: 'own', choice: this.#choice, block: -1, format: 'chat', value })
    this.#place ??= raw['delta'] ? 'delta' : raw['message'] ? 'message' : undefined
    const delta = this.#place === undefined ? undefined : raw[this.#place]
    const { logprobs } = raw
    if (isRecord(delta)) this.#delta(delta, isRecord(logprobs) ? logprobs : undefined, out)
    const finish = finishOf(raw['finish_reason'])
    if (finish !== undefined) this.#finish(finish, raw, search, out)
  }

  end(search: Fields | undefined, out: Part[]): void {
    if (!this.#isOver) this.#finish(this.#calls?.any === true ? 'tool_calls' : 'stop', {}, search, out)
  }

  #delta(delta: Fields, logprobs: Fields | undefined, out: Part[]): void {
    const { content, reasoning_content: standard, reasoning, refusal, tool_calls: calls } = delta
    const thought = standard || reasoning
    if (typeof thought === 'string' && thought !== '')
      this.#reason(thought, standard ? 'reasoning_content' : 'reasoning', out)
    if (hasStateFields(delta)) this.#keep(delta, out)
    const tokens = logprobs === undefined ? undefined : tokensIn(logprobs['content'])
    if (typeof content === 'string') this.#say('text', content, tokens, out)
    else if (Array.isArray(content)) this.#parts(content, tokens, out)
    if (typeof refusal === 'string') this.#say('refusal', refusal, tokensIn(logprobs?.['refusal']), out)
    for (const each of itemsOf(delta['annotations'])) this.#cite(readAnnotation(each), out)
    for (const image of itemsOf(delta['images'])) this.#media(imageOf(image), out)
    if (delta['audio']) this.#media(audioOf(delta['audio']), out)
    if (Array.isArray(calls) && calls.length > 0) this.#call(calls.filter(isRecord), out)
    else if (isRecord(delta['function_call'])) this.#legacyCall(delta['function_call'], out)
    const value = others(delta, messageFields)
    if (value !== undefined && Object.values(value).some(Boolean))
      out.push({ kind: 'own', choice: this.#choice, block: -1, format: 'chat', value: { message: value } })
  }

  /** Content in Mistral's form. */
  #parts(content: readonly unknown[], tokens: readonly TokenLogprob[] | undefined, out: Part[]): void {
    for (const part of content) {
      if (!isRecord(part)) continue
      if (part['type'] === 'thinking') this.#reason(thinkingIn(part['thinking']), 'reasoning_content', out)
      else if (typeof part['text'] === 'string') this.#say('text', part['text'], tokens, out)
    }
  }

  #say(kind: 'text' | 'refusal', text: string, tokens: readonly TokenLogprob[] | undefined, out: Part[]): void {
    if (text === '') {
      if (tokens !== undefined) this.#tokens = this.#tokens === undefined ? tokens : [...this.#tokens, ...tokens]
      return
    }
    const block = this.#in(kind, out)
    const logprobs = this.#tokens === undefined ? tokens : [...this.#tokens, ...(tokens ?? [])]
    this.#tokens = undefined
    if (kind === 'text') this.#textEnd += text.length
    out.push({ kind, choice: this.#choice, block, text, logprobs })
  }

  #reason(text: string, field: ReasoningField, out: Part[]): void {
    const isNew = this.#kind !== 'reasoning'
    const block = this.#in('reasoning', out)
    this.#field ??= field
    this.#hasState = true
    const own = isNew && field === 'reasoning' ? { chat: { as: field } } : undefined
    out.push({ kind: 'reasoning', choice: this.#choice, block, text, own })
  }

  /** State belongs to the open reasoning or text. Elsewhere it is reasoning of which only its maker knows more. */
  #keep(delta: Fields, out: Part[]): void {
    if (this.#kind !== 'reasoning' && this.#kind !== 'text')
      out.push({ kind: 'reasoning', choice: this.#choice, block: this.#in('reasoning', out), text: '' })
    append(this.#state, stateFields(delta))
    this.#hasState = true
  }

  #cite(citation: Citation | undefined, out: Part[]): void {
    if (citation === undefined || this.#text < 0) return
    this.#citations++
    const { range } = citation
    const begin = this.#textBegin
    const own =
      range === undefined || begin === 0 || range.start < begin
        ? citation
        : { ...citation, range: { start: range.start - begin, end: range.end - begin } }
    out.push({ kind: 'citation', choice: this.#choice, block: this.#text, citation: own })
  }

  #media(media: MediaBlock | undefined, out: Part[]): void {
    if (media === undefined) return
    const { type, source, transcript, own } = media
    const block = this.#in(type === 'audio' ? 'audio' : 'other', out)
    out.push({ kind: 'media', choice: this.#choice, block, type, source, transcript, own })
  }

  /** The predecessor of calls: there is at most one, without an id. Some vendors send it without a name. */
  #legacyCall(called: Fields, out: Part[]): void {
    if (!this.#hasLegacyCall && !called['name']) return
    const id = this.#hasLegacyCall ? undefined : newCallId()
    this.#hasLegacyCall = true
    this.#call([{ index: 0, id: id ?? null, function: called }], out)
  }

  #call(pieces: readonly ToolCallDelta[], out: Part[]): void {
    this.#calls ??= new ToolCalls()
    for (const piece of this.#calls.accept(pieces)) this.#callPiece(piece, out)
  }

  #callPiece(piece: ToolCallDelta, out: Part[]): void {
    const { index = 0, id, type, function: called } = piece
    const custom = piece['custom'] as { readonly name?: string; readonly input?: string } | undefined
    const isFirst = typeof id === 'string'
    if (isFirst) {
      // The reasoning before a call is signed with it.
      const isSigned = this.#kind === 'reasoning' && hasStateFields(piece)
      if (isSigned) this.#callState = { [toolId(id)]: stateFields(piece) }
      const block = this.#in('other', out)
      this.#open[index] = { block, id, ended: false }
      const name = called?.name ?? custom?.name ?? ''
      const by = type === 'custom' ? 'custom' : 'function'
      const state = isSigned ? undefined : callState(id, piece, this.#from.maker)
      const own = ownOf('chat', piece, callFields)
      out.push({ kind: 'call', choice: this.#choice, block, id, name, by, state, own })
    }
    const open = this.#open[index]
    // After complete arguments there can only be white space.
    if (open === undefined || open.ended) return
    const text = (called?.arguments ?? custom?.input ?? '') as string
    if (text !== '') out.push({ kind: 'input', choice: this.#choice, block: open.block, text })
    const state = isFirst ? undefined : callState(open.id, piece, this.#from.maker)
    if (state !== undefined) out.push({ kind: 'state', choice: this.#choice, block: open.block, state })
  }

  /** The block for a piece of this kind: the open one, or a new one. */
  #in(kind: Kind, out: Part[]): number {
    if (this.#kind === kind && kind !== 'other') return this.#block
    this.#sign(out)
    // A call that is not complete yet may go on after the next block.
    for (const [index, call] of this.#open.entries())
      if (!call.ended && this.#calls?.isWhole(index) === true) this.#close(call, out)
    this.#kind = kind
    this.#block = this.#count.blocks++
    if (kind === 'text') {
      this.#text = this.#block
      this.#textBegin = this.#textEnd
    }
    return this.#block
  }

  #close(call: OpenCall, out: Part[]): void {
    call.ended = true
    out.push({ kind: 'ended', choice: this.#choice, block: call.block })
  }

  #sign(out: Part[]): void {
    if (!this.#hasState) return
    const state = messageState(this.#from.maker, this.#state, this.#field, this.#callState)
    out.push({ kind: 'state', choice: this.#choice, block: this.#block, state })
    this.#state = {}
    this.#callState = undefined
    this.#hasState = false
    this.#field = undefined
  }

  #finish(finish: FinishReason, raw: Fields, search: Fields | undefined, out: Part[]): void {
    this.#isOver = true
    for (const piece of this.#calls?.finish() ?? []) this.#callPiece(piece, out)
    this.#sign(out)
    if (search !== undefined && this.#citations === 0)
      for (const citation of readSearch(search)) this.#cite(citation, out)
    for (const call of this.#open) if (!call.ended) this.#close(call, out)
    out.push({ kind: 'end', choice: this.#choice, end: endOf(finish, raw, this.#from.stops ?? []) })
  }
}

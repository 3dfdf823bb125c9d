/** Writes the events of a message whose vendor has another format. */
import { createHash } from 'node:crypto'
import { useless } from '../../providers/failure.ts'
import type { ToolCallDelta } from '../../wire/chat.ts'
import type { Message, MessageBlock, MessageEvent, MessageUsage, StopReason } from '../../wire/messages.ts'
import { CallQueue, parsedJson, type QueuedCall } from '../call-queue.ts'
import type { StopScanner } from './stop-scanner.ts'
import { isRecord } from '../../wire/json.ts'

/** State that the vendor wants back, such as signatures, for the `signature` of thinking blocks. */
export interface Sealing {
  /** Whether there is state that no block contains yet. */
  readonly isWaiting: boolean
  /** The signature of a thinking block, with the state so far. `hidden`: its text, if the client does not get it. */
  sign(hidden: string): string
}

/** Options of `EventWriter`. */
export interface WriterOptions {
  /** The message without content. */
  readonly message: Message
  /** `omitted`: blocks without their text. `none`: no thinking blocks, for a client that does not expect them. */
  readonly thinking: 'shown' | 'omitted' | 'none'
  readonly sealing: Sealing
  /** The name of a tool that the client knows, for that of the vendor. */
  readonly clientName: (name: string) => string
  /** Whether text must be the last block: then state that arrives after a text is left out. Default false. */
  readonly endsWithText?: boolean
  /** Absent: the vendor enforces the stop sequences. */
  readonly stops?: StopScanner | undefined
}

/** How a message ends. */
export interface MessageOutcome {
  readonly reason: StopReason
  readonly sequence?: string | undefined
  readonly usage: MessageUsage
}

type OpenBlock = { readonly kind: 'text' | 'thinking' } | { readonly kind: 'call'; readonly call: QueuedCall }

/**
 * Blocks are in the order in which the model started them; each is closed before the next is opened, so calls that the
 * model writes at the same time wait for each other. All methods add their events to `out`.
 */
export class EventWriter {
  readonly #options: WriterOptions
  readonly #calls = new CallQueue()
  #index = -1
  #open: OpenBlock | undefined
  #hasCalls = false
  #hasText = false
  /** White space before a text. Clients send blocks back, and vendors reject texts of white space alone. */
  #space = ''
  /** Thinking that the client does not get. */
  #hidden = ''
  /** What the model says while it writes calls. */
  #late: ((out: MessageEvent[]) => void)[] = []
  /** Whether the input of a call is no JSON object. */
  #hasBrokenCall = false

  constructor(options: WriterOptions) {
    this.#options = options
  }

  begin(out: MessageEvent[]): void {
    out.push({ type: 'message_start', message: this.#options.message })
  }

  text(piece: string, out: MessageEvent[]): void {
    if (this.#isWriting) return void this.#late.push((later) => this.text(piece, later))
    const { stops } = this.#options
    this.#text(stops === undefined ? piece : stops.push(piece), out)
  }

  think(piece: string, out: MessageEvent[]): void {
    const { thinking } = this.#options
    if (piece === '' || thinking === 'none' || this.#isStopped) return
    if (this.#isWriting) return void this.#late.push((later) => this.think(piece, later))
    this.#flushText(out)
    this.#thinkingBlock(out)
    if (thinking === 'omitted') this.#hidden += piece
    else this.#delta({ type: 'thinking_delta', thinking: piece }, out)
  }

  /** Ends the open thinking block, or writes one without text, if there is state that belongs before what follows. */
  sign(out: MessageEvent[]): void {
    if (this.#options.thinking === 'none' || this.#isStopped) return
    if (this.#options.sealing.isWaiting) this.#thinkingBlock(out)
    if (this.#open?.kind === 'thinking') this.#close(out)
  }

  call(piece: ToolCallDelta, out: MessageEvent[]): void {
    if (this.#isStopped) return
    this.#flushText(out)
    this.#calls.add(piece)
    this.#writeCalls(false, out)
    if (this.#late.length > 0 && !this.#calls.isWriting) this.#writeLate(out)
  }

  end({ reason, sequence, usage }: MessageOutcome, out: MessageEvent[]): void {
    const { stops, sealing, endsWithText = false } = this.#options
    this.#flushText(out)
    this.#writeCalls(true, out, reason)
    this.#close(out, reason)
    this.#writeLate(out)
    this.#flushText(out)
    this.#close(out, reason)
    // Only now: the vendor reports what it charges at its end.
    if (this.#hasBrokenCall) throw useless('the model wrote a tool call whose arguments are not a JSON object')
    // A message of state alone would be an answer without content.
    if (sealing.isWaiting && (this.#hasCalls || (this.#hasText && !endsWithText))) this.sign(out)
    const found = stops?.found
    const stop_reason = found !== undefined ? 'stop_sequence' : reasonOf(reason, this.#hasCalls)
    const stop_sequence = found ?? sequence ?? null
    out.push({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage }, { type: 'message_stop' })
  }

  get #isWriting(): boolean {
    return this.#open?.kind === 'call' && this.#calls.isWriting
  }

  #writeLate(out: MessageEvent[]): void {
    for (const write of this.#late.splice(0)) write(out)
  }

  get #isStopped(): boolean {
    return this.#options.stops?.found !== undefined
  }

  #flushText(out: MessageEvent[]): void {
    const { stops } = this.#options
    if (stops !== undefined) this.#text(stops.flush(), out)
  }

  #text(piece: string, out: MessageEvent[]): void {
    if (piece === '') return
    if (this.#open?.kind !== 'text') {
      this.#space += piece
      if (piece.trim() === '') return
      const text = this.#space
      this.#endBlock(out)
      this.#sealWaiting(out)
      this.#begin({ kind: 'text' }, { type: 'text', text: '' }, out)
      this.#hasText = true
      return this.#delta({ type: 'text_delta', text }, out)
    }
    this.#delta({ type: 'text_delta', text: piece }, out)
  }

  #thinkingBlock(out: MessageEvent[]): void {
    if (this.#open?.kind === 'thinking') return
    this.#endBlock(out)
    this.#begin({ kind: 'thinking' }, blankThinking, out)
  }

  /** `force`: also calls after an incomplete one, because no more of it is expected. */
  #writeCalls(force: boolean, out: MessageEvent[], reason?: StopReason): void {
    this.#writeInput(out)
    for (let next = this.#calls.next(force); next !== undefined; next = this.#calls.next(force)) {
      this.#openCall(next, out, reason)
      this.#writeInput(out)
    }
  }

  #writeInput(out: MessageEvent[]): void {
    const partial_json = this.#calls.take()
    if (partial_json !== '') this.#delta({ type: 'input_json_delta', partial_json }, out)
  }

  #openCall(call: QueuedCall, out: MessageEvent[], reason: StopReason | undefined): void {
    this.#close(out, reason)
    this.#sealWaiting(out)
    const block = { type: 'tool_use', id: toolId(call.id), name: this.#options.clientName(call.name), input: {} }
    this.#begin({ kind: 'call', call }, block, out)
    this.#hasCalls = true
    this.#calls.open(call)
  }

  /** Before a block that is not a call: what the open call still lacks is not expected any more. */
  #endBlock(out: MessageEvent[]): void {
    this.#writeCalls(true, out)
    this.#close(out)
  }

  /** What a text or a call needs is in a block before it, if it is there already. */
  #sealWaiting(out: MessageEvent[]): void {
    const { sealing, thinking } = this.#options
    if (!sealing.isWaiting || thinking === 'none') return
    this.#begin({ kind: 'thinking' }, blankThinking, out)
    this.#close(out)
  }

  #begin(open: OpenBlock, content_block: MessageBlock, out: MessageEvent[]): void {
    this.#space = ''
    this.#open = open
    out.push({ type: 'content_block_start', index: ++this.#index, content_block })
  }

  #delta(delta: Extract<MessageEvent, { type: 'content_block_delta' }>['delta'], out: MessageEvent[]): void {
    out.push({ type: 'content_block_delta', index: this.#index, delta })
  }

  /** `reason`: why the message ends, if this is its end. */
  #close(out: MessageEvent[], reason?: StopReason): void {
    const open = this.#open
    if (open === undefined) return
    this.#open = undefined
    if (open.kind === 'thinking') {
      this.#delta({ type: 'signature_delta', signature: this.#options.sealing.sign(this.#hidden) }, out)
      this.#hidden = ''
    } else if (open.kind === 'call') {
      this.#calls.close()
      if (open.call.input.text === '') this.#delta({ type: 'input_json_delta', partial_json: '{}' }, out)
      else if (!isRecord(parsedJson(open.call.input.text)) && !isCut(reason)) this.#hasBrokenCall = true
    }
    out.push({ type: 'content_block_stop', index: this.#index })
  }
}

const blankThinking: MessageBlock = { type: 'thinking', thinking: '', signature: '' }

/** The reason for the client: vendors disagree on whether calls are one of their own. */
export function reasonOf(reason: StopReason, hasCalls: boolean): StopReason {
  if (reason === 'end_turn' || reason === 'tool_use') return hasCalls ? 'tool_use' : 'end_turn'
  return reason
}

/** Whether a message may end in the middle of a call. */
function isCut(reason: StopReason | undefined): boolean {
  return reason !== undefined && reason !== 'end_turn' && reason !== 'tool_use'
}

/** An id that Anthropic accepts in a later turn: the vendor's if possible. The gateway's own ids get the usual prefix. */
export function toolId(id: string): string {
  const own = /^call_([0-9a-f]{24})$/.exec(id)
  if (own !== null) return `toolu_${own[1]}`
  if (/^[\w-]{1,64}$/.test(id)) return id
  return `toolu_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
}

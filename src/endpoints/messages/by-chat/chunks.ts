/** Conversion of a chat's chunks to the events of a message. */
import type { ChunkChoice, Delta } from '../../../wire/chat.ts'
import type { MessageEvent, StopReason } from '../../../wire/messages.ts'
import type { Usage } from '../../../wire/usage.ts'
import type { AnswerContext } from '../../chunk-answer.ts'
import { emptyMessage } from '../empty-message.ts'
import type { Reading } from '../reading/reading.ts'
import { StopScanner } from '../stop-scanner.ts'
import { messageUsage } from '../usage.ts'
import { EventWriter, type MessageOutcome } from '../writer.ts'
import { ChatSealing } from './seal-state.ts'

/** What decides on the message that a chat becomes. */
export interface MessageForm {
  readonly reading: Pick<Reading, 'settings' | 'tools' | 'display' | 'stream'>
  /** The stop sequences that the vendor enforces. */
  readonly stops: readonly string[]
  /** See `makerOf`. */
  readonly maker: string
}

/** The stop sequences that the vendor does not enforce. */
export function otherStops({ reading, stops }: MessageForm): readonly string[] {
  return reading.settings.stops.filter((stop) => !stops.includes(stop))
}

/** A reader of the chunks of one chat. It holds nothing of the request while the message is streamed. */
export function readerOf(form: MessageForm, context: AnswerContext): ChunkReader {
  const { reading, stops, maker } = form
  const sealing = new ChatSealing(maker)
  const others = otherStops(form)
  const writer = new EventWriter({
    message: emptyMessage(context),
    thinking: reading.display,
    sealing,
    clientName: reading.tools.clientName,
    // A whole message is put in order once it is complete.
    endsWithText: reading.stream && context.order.readsLastBlock === true,
    stops: others.length === 0 ? undefined : new StopScanner(others),
  })
  return new ChunkReader(writer, sealing, stops)
}

/** Events for the chunks of one choice. */
export class ChunkReader {
  readonly #writer: EventWriter
  readonly #sealing: ChatSealing
  readonly #stops: readonly string[]
  #reason: StopReason = 'end_turn'
  #sequence: string | undefined
  /** The id of each call, by index: only the first piece has it. */
  readonly #ids = new Map<number, string>()

  /** `stops`: the stop sequences that the vendor enforces. */
  constructor(writer: EventWriter, sealing: ChatSealing, stops: readonly string[]) {
    this.#writer = writer
    this.#sealing = sealing
    this.#stops = stops
  }

  begin(out: MessageEvent[]): void {
    this.#writer.begin(out)
  }

  accept(choice: ChunkChoice, out: MessageEvent[]): void {
    if ((choice.index ?? 0) !== 0) return
    if (choice.delta !== undefined) this.#delta(choice.delta, out)
    if (choice.finish_reason) this.#finish(choice)
  }

  end(usage: Usage, out: MessageEvent[]): void {
    this.#writer.end({ reason: this.#reason, sequence: this.#sequence, usage: messageUsage(usage) }, out)
  }

  #delta(delta: Delta, out: MessageEvent[]): void {
    const { content, refusal, reasoning_content: standard, reasoning, tool_calls: calls } = delta
    const thinking = standard || reasoning
    if (typeof thinking === 'string' && thinking !== '') {
      this.#sealing.reasoned(standard ? 'reasoning_content' : 'reasoning')
      this.#writer.think(thinking, out)
    }
    this.#sealing.add(delta)
    if (content) this.#writer.text(content, out)
    if (refusal) {
      this.#reason = 'refusal'
      this.#writer.text(refusal, out)
    }
    for (const piece of calls ?? []) {
      const { index = 0, id } = piece
      if (typeof id === 'string') this.#ids.set(index, id)
      this.#sealing.addCall(this.#ids.get(index) ?? '', piece)
      this.#writer.call(piece, out)
    }
  }

  #finish(choice: ChunkChoice): void {
    if (this.#reason === 'refusal') return
    const { reason, sequence } = endOf(choice, this.#stops)
    this.#reason = reason
    this.#sequence = sequence
  }
}

/** How a choice ends. `stops`: the stop sequences that the vendor enforces. */
export function endOf(
  choice: { readonly finish_reason?: string | null; readonly [field: string]: unknown },
  stops: readonly string[],
): Pick<MessageOutcome, 'reason' | 'sequence'> {
  const reason = reasons[choice.finish_reason ?? ''] ?? 'end_turn'
  if (stops.length === 0 || reason !== 'end_turn') return { reason }
  // Names of vLLM and SGLang.
  const matched = [choice['stop_reason'], choice['matched_stop']].find((each) => stops.includes(each as string))
  return matched === undefined ? { reason } : { reason: 'stop_sequence', sequence: matched as string }
}

const reasons: Readonly<Record<string, StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

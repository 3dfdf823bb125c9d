/** Combines the events of a message into a non-streaming one. */
import type { Cancellation } from '../../http/cancellation.ts'
import { flowOf } from '../../http/flow-of.ts'
import { unreadable } from '../../providers/failure.ts'
import { withTotals } from '../../wire/message-usage.ts'
import type { BlockDelta, Message, MessageBlock, MessageEvent } from '../../wire/messages.ts'
import { textOf } from '../../wire/json.ts'

type OpenBlock = Record<string, unknown>

/** The whole message. Rejects if the events end without `message_stop`, or once `call` is cancelled. */
export function collectMessage(events: AsyncIterable<MessageEvent>, call: Cancellation): Promise<Message> {
  const source = flowOf(events)
  return new Promise((resolve, reject) => {
    const collector = new Collector()
    source.start({
      receive(pieces, last) {
        try {
          if (call.aborted) throw call.reason
          for (const event of pieces) collector.accept(event)
          if (collector.whole !== undefined) resolve(collector.whole)
          else if (last) throw broken()
        } catch (error) {
          source.stop()
          reject(error)
        }
      },
      fail: reject,
    })
  })
}

/** The message whose events are all there. */
export function collected(events: readonly MessageEvent[]): Message {
  const collector = new Collector()
  for (const event of events) collector.accept(event)
  if (collector.whole === undefined) throw broken()
  return collector.whole
}

class Collector {
  /** The message, once it is complete. */
  whole: Message | undefined
  #message: Message | undefined
  readonly #blocks: OpenBlock[] = []
  readonly #inputs = new Map<number, string>()
  /** Whether the input of the last call is incomplete. */
  #isCut = false

  accept(event: MessageEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#message = event.message
        return
      case 'content_block_start':
        this.#blocks[event.index] = { ...event.content_block }
        return
      case 'content_block_delta':
        return extend(this.#blocks[event.index] ?? {}, event.delta, (text) => {
          this.#inputs.set(event.index, (this.#inputs.get(event.index) ?? '') + text)
        })
      case 'content_block_stop':
        if (this.#isCut) throw unreadableCall()
        this.#isCut = !close(this.#blocks[event.index], this.#inputs.get(event.index))
        return
      case 'message_delta': {
        if (this.#message === undefined) throw broken()
        const { delta, usage } = event
        if (this.#isCut && !cuts.has(delta.stop_reason)) throw unreadableCall()
        this.#message = { ...this.#message, ...delta, usage: withTotals(this.#message.usage, usage) }
        return
      }
      case 'message_stop': {
        if (this.#message === undefined) throw broken()
        const content = this.#blocks.filter((block) => block !== undefined) as unknown as MessageBlock[]
        this.whole = { ...this.#message, content }
      }
    }
  }
}

function extend(block: OpenBlock, delta: BlockDelta, addInput: (text: string) => void): void {
  switch (delta.type) {
    case 'text_delta':
      block['text'] = textOf(block['text']) + delta.text
      break
    case 'thinking_delta':
      block['thinking'] = textOf(block['thinking']) + delta.thinking
      break
    case 'signature_delta':
      block['signature'] = textOf(block['signature']) + delta.signature
      break
    case 'input_json_delta':
      addInput(delta.partial_json)
      break
    default: {
      const { citation } = delta as { readonly citation?: unknown }
      if (citation !== undefined) block['citations'] = [...((block['citations'] ?? []) as unknown[]), citation]
    }
  }
}

/** Reasons why a message may end inside of a call, whose input is then empty. */
const cuts: ReadonlySet<unknown> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal', 'stop_sequence'])

/** Returns false if the input of a call is not JSON. */
function close(block: OpenBlock | undefined, input: string | undefined): boolean {
  if (block === undefined || input === undefined || input === '') return true
  try {
    block['input'] = JSON.parse(input)
    return true
  } catch {
    return false
  }
}

function unreadableCall(): Error {
  return unreadable('the vendor sent a tool call whose input is not JSON')
}

function broken(): Error {
  return unreadable("the vendor's stream ended before the response was complete")
}

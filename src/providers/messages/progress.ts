/** How far a streamed message is, by its events. */
import { withTotals } from '../../wire/message-usage.ts'
import type { MessageUsage } from '../../wire/messages.ts'
import { unreadable } from '../failure.ts'
import { type Fields, fieldsOf } from '../../wire/json.ts'

/** What is passed on together: the frames from `start` on as they are, after those before that had to be changed. */
export interface Batch {
  start: number
  readonly changed: (string | Buffer)[]
  textBytes: number
  hasContent: boolean
  usage: MessageUsage | undefined
  /** The id of the message, if its start is in the batch. */
  id: string | undefined
  stopReason: string | undefined
}

export function newBatch(start: number): Batch {
  return { start, changed: [], textBytes: 0, hasContent: false, usage: undefined, id: undefined, stopReason: undefined }
}

export class MessageProgress {
  /** True after the last event. */
  done = false
  /** The id of the message, once it has begun. */
  #id: string | undefined
  #usage: MessageUsage = {}
  #finished = false

  get begun(): boolean {
    return this.#id !== undefined
  }

  /**
   * Counts an event. False for one to leave out: some proxies repeat the first one. Throws for an event at the wrong place:
   * others insert the first event of another message.
   */
  accept(type: string, event: Fields, batch: Batch): boolean {
    switch (type) {
      case 'message_start':
        return this.#begin(fieldsOf(event['message']), batch)
      case 'content_block_delta':
        batch.textBytes += bytesOf(fieldsOf(event['delta']))
        batch.hasContent = true
        break
      case 'content_block_stop':
        batch.hasContent = true
        break
      case 'message_delta':
        this.#finished ||= typeof fieldsOf(event['delta'])['stop_reason'] === 'string'
        this.#count(event['usage'], batch)
        batch.hasContent = true
        break
      case 'message_stop':
        if (!this.#finished) throw unreadable("the vendor's message ended without a stop reason")
        this.done = true
    }
    if (!this.begun && type !== 'ping') {
      throw unreadable('the vendor sent an event before the start of the message')
    }
    return true
  }

  #begin({ id, usage }: Fields, batch: Batch): boolean {
    const name = typeof id === 'string' ? id : ''
    if (this.#id === name) return false
    if (this.begun) throw unreadable('the vendor started a second message inside the first')
    this.#id = name
    this.#count(usage, batch)
    return true
  }

  #count(usage: unknown, batch: Batch): void {
    this.#usage = withTotals(this.#usage, fieldsOf(usage))
    batch.usage = this.#usage
  }
}

function bytesOf({ type, text, partial_json: input, thinking, content }: Fields): number {
  const value = type === 'compaction_delta' ? content : (text ?? input ?? thinking)
  return typeof value === 'string' ? Buffer.byteLength(value) : 0
}

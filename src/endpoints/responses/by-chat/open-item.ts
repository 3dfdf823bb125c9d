/** An item of an answer while it is written: it opens, grows and closes, and tells of it in events. */
import type { OutputItem, ResponseEvent } from '../../../wire/responses.ts'

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

/** Output items while the model writes them. */
import type { OutputItem, ResponseEvent } from '../../../wire/responses.ts'

/** The state of an item. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** The fields that identify an item in events. */
export interface Place {
  readonly item_id: string
  readonly output_index: number
}

/** An item that is being written. */
export interface OpenItem {
  /** The events that end the open parts. Those that end the item itself are up to the caller. */
  close(): ResponseEvent[]
  /** The item as written so far. */
  item(status: ItemStatus): OutputItem
}

/** Output items while the model writes them. */
import type { Fields } from '../../conversation/conversation.ts'
import type { OutEvent } from '../format.ts'
import type { ItemStatus } from './output-items.ts'

/** The fields that identify an item in events. */
export interface Place {
  readonly item_id: string
  readonly output_index: number
}

/** An item that is being written. */
export interface OpenItem {
  readonly place: Place
  /** The item at its beginning. */
  opened(): Fields
  /** Writes the events that end the open parts. Returns the whole item. */
  close(status: ItemStatus, out: OutEvent[]): Fields
}

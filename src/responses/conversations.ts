import { LRUCache } from 'lru-cache'
import type { ConversationMemory } from '../http/exchange.ts'

/** The conversations that a socket remembers of one lane: the newest ones, since clients continue those. */
const mostOfLane = 16

/** The remembered conversations of all sockets; the least recently used ones are forgotten first. */
export class Conversations {
  readonly #items: LRUCache<string, readonly object[]>
  /** Items are the same objects in each conversation that continues another. */
  readonly #bytes = new WeakMap<object, number>()
  #sockets = 0

  /** `maxBytes`: of all items as JSON, which take a few times as much memory. */
  constructor(maxBytes: number) {
    this.#items = new LRUCache({ maxSize: maxBytes })
  }

  /** The memory of one socket. */
  open(): SocketMemory {
    return new SocketMemory(this.#items, String(this.#sockets++), (items) => this.#bytesOf(items))
  }

  /** The bytes of all remembered conversations. */
  get bytes(): number {
    return this.#items.calculatedSize
  }

  #bytesOf(items: readonly object[]): number {
    let bytes = 1
    for (const item of items) {
      let own = this.#bytes.get(item)
      if (own === undefined) this.#bytes.set(item, (own = JSON.stringify(item).length))
      bytes += own
    }
    return bytes
  }
}

/** What one socket remembers, until `close`. */
export class SocketMemory {
  readonly #items: LRUCache<string, readonly object[]>
  readonly #socket: string
  readonly #bytesOf: (items: readonly object[]) => number
  readonly #lanes = new Map<string | undefined, LaneMemory>()

  constructor(
    items: LRUCache<string, readonly object[]>,
    socket: string,
    bytesOf: (items: readonly object[]) => number,
  ) {
    this.#items = items
    this.#socket = socket
    this.#bytesOf = bytesOf
  }

  /** The memory of one lane, which forgets none of another lane. It finds the conversations of all lanes of the socket. */
  of(lane: string | undefined): ConversationMemory {
    let memory = this.#lanes.get(lane)
    if (memory === undefined) {
      memory = new LaneMemory(this.#items, this.#socket, this.#bytesOf)
      this.#lanes.set(lane, memory)
    }
    return memory
  }

  /** Forgets all. */
  close(): void {
    for (const memory of this.#lanes.values()) memory.close()
  }
}

class LaneMemory implements ConversationMemory {
  readonly #items: LRUCache<string, readonly object[]>
  readonly #socket: string
  readonly #bytesOf: (items: readonly object[]) => number
  /** In the order in which they were added. */
  readonly #places = new Set<string>()

  constructor(
    items: LRUCache<string, readonly object[]>,
    socket: string,
    bytesOf: (items: readonly object[]) => number,
  ) {
    this.#items = items
    this.#socket = socket
    this.#bytesOf = bytesOf
  }

  get(account: string, id: string): readonly object[] | undefined {
    return this.#items.get(this.#placeOf(account, id))
  }

  put(account: string, id: string, items: readonly object[]): void {
    const place = this.#placeOf(account, id)
    this.#items.set(place, items, { size: this.#bytesOf(items) })
    this.#places.delete(place)
    this.#places.add(place)
    const [oldest = place] = this.#places
    if (this.#places.size > mostOfLane) this.#forget(oldest)
  }

  close(): void {
    for (const place of this.#places) this.#forget(place)
  }

  #forget(place: string): void {
    this.#places.delete(place)
    this.#items.delete(place)
  }

  #placeOf(account: string, id: string): string {
    return JSON.stringify([this.#socket, account, id])
  }
}

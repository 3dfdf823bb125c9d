import { LRUCache } from 'lru-cache'
import type { ConversationMemory } from '../http/exchange.ts'

/** The conversations that a socket remembers of one lane: the newest ones, since clients continue those. */
const mostOfLane = 16

/**
 * The remembered conversations of all sockets. Once they are too large, the account with the most forgets the one that it
 * has not used for longest: calls that cost nothing, too, are remembered, and must not displace those of other accounts.
 */
export class Conversations {
  readonly #maxBytes: number
  readonly #byAccount = new Map<string, LRUCache<string, readonly object[]>>()
  /** Items are the same objects in each conversation that continues another. */
  readonly #itemBytes = new WeakMap<object, number>()
  #bytes = 0
  #sockets = 0

  /** `maxBytes`: of all items as JSON, which take a few times as much memory. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The memory of one socket. */
  open(): SocketMemory {
    return new SocketMemory(this, String(this.#sockets++))
  }

  /** The bytes of all remembered conversations. */
  get bytes(): number {
    return this.#bytes
  }

  get(account: string, place: string): readonly object[] | undefined {
    return this.#byAccount.get(account)?.get(place)
  }

  set(account: string, place: string, items: readonly object[]): void {
    let own = this.#byAccount.get(account)
    if (own === undefined) this.#byAccount.set(account, (own = new LRUCache({ maxSize: this.#maxBytes })))
    const before = own.calculatedSize
    own.set(place, items, { size: this.#bytesOf(items) })
    this.#bytes += own.calculatedSize - before
    while (this.#bytes > this.#maxBytes) this.#forgetOne()
  }

  delete(account: string, place: string): void {
    const own = this.#byAccount.get(account)
    if (own === undefined) return
    const before = own.calculatedSize
    own.delete(place)
    this.#bytes += own.calculatedSize - before
    if (own.size === 0) this.#byAccount.delete(account)
  }

  #forgetOne(): void {
    let [most] = this.#byAccount.values()
    for (const each of this.#byAccount.values()) {
      if (most === undefined || each.calculatedSize > most.calculatedSize) most = each
    }
    const before = most?.calculatedSize ?? 0
    most?.pop()
    this.#bytes -= before - (most?.calculatedSize ?? 0)
  }

  #bytesOf(items: readonly object[]): number {
    let bytes = 1
    for (const item of items) {
      let own = this.#itemBytes.get(item)
      if (own === undefined) this.#itemBytes.set(item, (own = JSON.stringify(item).length))
      bytes += own
    }
    return bytes
  }
}

/** What one socket remembers, until `close`. */
export class SocketMemory {
  readonly #conversations: Conversations
  readonly #socket: string
  readonly #lanes = new Map<string | undefined, LaneMemory>()

  constructor(conversations: Conversations, socket: string) {
    this.#conversations = conversations
    this.#socket = socket
  }

  /** The memory of one lane, which forgets none of another lane. It finds the conversations of all lanes of the socket. */
  of(lane: string | undefined): ConversationMemory {
    let memory = this.#lanes.get(lane)
    if (memory === undefined) {
      memory = new LaneMemory(this.#conversations, this.#socket)
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
  readonly #conversations: Conversations
  readonly #socket: string
  /** The account of each conversation by its place, in the order in which they were added. */
  readonly #places = new Map<string, string>()

  constructor(conversations: Conversations, socket: string) {
    this.#conversations = conversations
    this.#socket = socket
  }

  get(account: string, id: string): readonly object[] | undefined {
    return this.#conversations.get(account, this.#placeOf(id))
  }

  put(account: string, id: string, items: readonly object[]): void {
    const place = this.#placeOf(id)
    this.#conversations.set(account, place, items)
    this.#places.delete(place)
    this.#places.set(place, account)
    const [oldest] = this.#places
    if (this.#places.size > mostOfLane && oldest !== undefined) this.#forget(...oldest)
  }

  close(): void {
    for (const each of this.#places) this.#forget(...each)
  }

  #forget(place: string, account: string): void {
    this.#places.delete(place)
    this.#conversations.delete(account, place)
  }

  #placeOf(id: string): string {
    return `${this.#socket} ${id}`
  }
}

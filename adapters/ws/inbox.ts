import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLarge, JsonBody } from '../../src/http/json-body.ts'
import { GatewayError, type Sizes } from '../../src/index.ts'
import { intakeOf, laneIn } from './client-event.ts'
import type { Lanes } from './lanes.ts'
import type { Sockets } from './sockets.ts'

/** Messages of one socket that may wait for calls in progress. */
const mostWaiting = 32

/** A message of the client. */
export interface Message {
  readonly body: JsonBody
  readonly bytes: number
  /** Whether its bytes count as those of a message that waits. */
  readonly isKept: boolean
}

export interface InboxParts {
  readonly sizes: Sizes
  readonly sockets: Sockets
  readonly lanes: Lanes<Message>
  readonly isOpen: () => boolean
  /** Whether further requests belong to another socket. */
  readonly isLeaving: () => boolean
  /** Sends a message that belongs to no response. */
  readonly answer: (message: string) => void
  /** Answers a message that cannot be served. */
  readonly refuse: (error: GatewayError, lane: string | undefined) => void
  /** Called when messages that had to be read later are read. */
  readonly settled: () => void
}

/** Reads the messages of a socket, in their order, into its lanes. */
export class Inbox {
  readonly #parts: InboxParts
  /** Messages that are not read yet, because a large one is before them. */
  readonly #unread: Buffer[] = []
  #isReading = false

  constructor(parts: InboxParts) {
    this.#parts = parts
  }

  get isReading(): boolean {
    return this.#isReading
  }

  receive(data: Buffer): void {
    if (!this.#isReading && !isLarge(data)) return this.#read(data)
    if (!this.#hasRoomFor(data.length)) return this.#refuse(data)
    this.#unread.push(data)
    if (!this.#isReading) void this.#readLater()
  }

  /** The bytes of a message that waited count no longer. */
  taken({ bytes, isKept }: Message): void {
    if (isKept) this.#parts.sockets.drop(bytes)
  }

  /** Forgets the messages that wait. */
  clear(): void {
    const { sockets, lanes } = this.#parts
    for (const { length } of this.#unread.splice(0)) sockets.drop(length)
    for (const message of lanes.clear()) this.taken(message)
  }

  /** Reads the messages from a large one on, each large one in a turn of its own. Never rejects. */
  async #readLater(): Promise<void> {
    const { sockets, isOpen, settled } = this.#parts
    this.#isReading = true
    for (let data = this.#unread.shift(); data !== undefined; data = this.#unread.shift()) {
      if (isLarge(data)) await nextTurn()
      sockets.drop(data.length)
      if (isOpen()) this.#read(data)
    }
    this.#isReading = false
    settled()
  }

  #read(data: Buffer): void {
    const { sizes, lanes, isLeaving, answer, refuse } = this.#parts
    let lane: string | undefined
    try {
      const body = JsonBody.fromBytes(data, sizes)
      lane = laneIn(body)
      const intake = intakeOf(body)
      if (typeof intake === 'object') answer(intake.answer)
      if (intake !== 'request') return
      if (isLeaving()) throw new GatewayError('websocket_connection_limit_reached')
      lanes.check(lane)
      const isKept = !lanes.isFree(lane)
      if (isKept && !this.#hasRoomFor(data.length)) throw crowded()
      lanes.add({ body, bytes: data.length, isKept }, lane)
    } catch (error) {
      refuse(GatewayError.from(error), lane)
    }
  }

  /** Counts a message that has to wait; false if it may not. */
  #hasRoomFor(bytes: number): boolean {
    const { sockets, lanes } = this.#parts
    if (this.#unread.length + lanes.waiting >= mostWaiting) return false
    if (sockets.keep(bytes)) return true
    sockets.drop(bytes)
    return false
  }

  #refuse(data: Buffer): void {
    const { sizes, refuse } = this.#parts
    let lane: string | undefined
    try {
      lane = laneIn(JsonBody.fromBytes(data, sizes))
    } catch {
      // That there are too many is what the client has to know first.
    }
    refuse(crowded(), lane)
  }
}

function crowded(): GatewayError {
  const message =
    'Too many requests are waiting on this connection. Wait for the end of a response, or open another one.'
  return new GatewayError('rate_limit_exceeded', { message })
}

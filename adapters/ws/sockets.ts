import { GatewayError } from '../../src/index.ts'
import { Conversations } from '../../src/responses/conversations.ts'
import type { Settings } from './options.ts'

/** A socket, as the others see it. */
export interface Member {
  /** Whose it is. */
  readonly caller: string
  /** Whether a call is in progress or waits. */
  readonly isBusy: boolean
  /** Milliseconds at which the last call ended, by a monotonic clock. */
  readonly idleSince: number
  /** Checks whether the client is still there. */
  check(now: number): void
  /** Closes it in favour of another one. */
  replace(): void
}

/** The open sockets of one `upgrades`, and what they may take together. */
export class Sockets {
  readonly conversations: Conversations
  readonly #settings: Settings
  readonly #byCaller = new Map<string, Set<Member>>()
  #size = 0
  #waiting = 0
  #timer: NodeJS.Timeout | undefined

  constructor(settings: Settings) {
    this.#settings = settings
    this.conversations = new Conversations(settings.rememberedBytes)
  }

  /** The number of sockets, with those whose handshake is not complete. */
  get size(): number {
    return this.#size
  }

  /** Counts a socket until `release`. Throws 426 if there are too many. */
  reserve(): void {
    if (this.#size >= this.#settings.sockets) throw tooMany('on this server')
    this.#size++
  }

  release(): void {
    this.#size--
  }

  /** Closes an idle socket of the caller, if it has too many. Throws 426 if all of them are busy. */
  makeRoom(caller: string): void {
    const members = this.#byCaller.get(caller)
    if (members === undefined || members.size < this.#settings.socketsPerCaller) return
    let longest: Member | undefined
    for (const member of members) {
      if (!member.isBusy && (longest === undefined || member.idleSince < longest.idleSince)) longest = member
    }
    if (longest === undefined) throw tooMany('with this key')
    // It may take seconds to close: until then the next one must not choose it again.
    this.leave(longest)
    longest.replace()
  }

  join(member: Member): void {
    const members = this.#byCaller.get(member.caller)
    if (members === undefined) this.#byCaller.set(member.caller, new Set([member]))
    else members.add(member)
    this.#timer ??= setInterval(() => this.#tick(), this.#settings.pingMs).unref()
  }

  /** Forgets a member that closes. Further calls do nothing. */
  leave(member: Member): void {
    const members = this.#byCaller.get(member.caller)
    members?.delete(member)
    if (members?.size === 0) this.#byCaller.delete(member.caller)
    if (this.#byCaller.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Counts bytes of messages that are kept. False if there are too many. */
  keep(bytes: number): boolean {
    this.#waiting += bytes
    return this.#waiting <= this.#settings.waitingBytes
  }

  /** Ends what `keep` began. */
  drop(bytes: number): void {
    this.#waiting -= bytes
  }

  #tick(): void {
    const now = performance.now()
    for (const members of this.#byCaller.values()) for (const member of members) member.check(now)
  }
}

/** With this status clients continue over HTTP at once. With any other one, Codex tries again for several seconds. */
function tooMany(where: string): GatewayError {
  const message = `Too many WebSockets are open ${where}. Send the request over HTTP, as a POST.`
  return new GatewayError('upgrade_required', { message })
}

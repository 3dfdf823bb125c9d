/** Writes what was asked and answered: after the answer, in batches, and never more than there is room for. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { InspectedCall } from '../../inspect/contract.ts'
import { dayOf } from '../../records/calendar.ts'
import { Queue } from '../../records/queue.ts'
import { Retention } from '../usage/retention.ts'
import { ownerOf, packed, type PackedContent } from './cipher.ts'
import type { ContentReading, LoggedContent } from './content.ts'
import type { ContentKey, ContentOwner, ContentRecord } from './contract.ts'
import { LoggedCall, type CallSink } from './logged-call.ts'
import type { ContentOptions, Redact } from './options.ts'
import type { ContentReaderSettings } from './read.ts'
import { redacting } from './redacting.ts'

const dayMs = 86_400_000
/** Milliseconds from one batch to the next, unless that is full. */
const paceMs = 250
const portionBytes = 4 * 1024 * 1024

/** What `ContentLog` needs. */
export interface ContentLogSettings extends ContentReaderSettings {
  readonly options: ContentOptions
  readonly reading: ContentReading
  readonly random: () => number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The calls whose content was to be kept since the start: the sum of the three. */
export interface ContentCounts {
  /** They are in the store. */
  readonly written: number
  /** They are not, and will not be: there was no room, they could not be read, or `redact` has failed or kept nothing. */
  readonly dropped: number
  /** They are in progress, or wait to be written. */
  readonly waiting: number
}

/** The request of a call, as far as its content needs it. */
interface LoggedOrder {
  readonly form?: unknown
  readonly json: (changes: Record<string, unknown>) => Uint8Array
}

interface Item {
  readonly call: LoggedCall
  packed?: PackedContent | undefined
  isDropped?: boolean
}

export class ContentLog implements CallSink {
  readonly mediaBytes: number
  readonly reading: ContentReading
  readonly #settings: ContentLogSettings
  readonly #redact: readonly Redact[]
  readonly #chosen: (call: InspectedCall) => boolean
  readonly #queue: Queue<Item>
  readonly #retention: Retention
  #held = 0
  #begun = 0
  #written = 0
  #dropped = 0

  constructor(settings: ContentLogSettings) {
    const { options, random } = settings
    const { accounts, sample = 1, keepDays = 30, mediaBytes = 4_096, queue: most = 10_000, redact } = options
    this.#settings = settings
    this.mediaBytes = mediaBytes
    this.reading = settings.reading
    this.#redact = redacting(redact)
    const isOf = chosenBy(accounts)
    this.#chosen = (call) => (sample === 1 || random() < sample) && isOf(call)
    this.#queue = new Queue<Item>({
      send: (batch) => this.#send(batch),
      paceMs,
      most,
      dropped: (item, why) => this.#drop(item, why),
    })
    this.#retention = new Retention({
      store: { removeBefore: (before, most) => this.#removeBefore(dayOf(before), most) },
      keepMs: keepDays * dayMs,
      now: settings.now,
      failed: (error) => settings.failed('content', error),
    })
  }

  get counts(): ContentCounts {
    const [written, dropped] = [this.#written, this.#dropped]
    return { written, dropped, waiting: this.#begun - written - dropped }
  }

  /** The call, if its content is to be kept. */
  begin(call: InspectedCall, order: LoggedOrder): LoggedCall | undefined {
    this.#retention.use()
    try {
      if (!this.#chosen(call)) return undefined
    } catch (error) {
      this.#settings.failed(call.id, error)
      return undefined
    }
    this.#begun++
    // Fields of a form may follow its files.
    if (order.form !== undefined) return new LoggedCall(call.id, this, () => order.json({}), 0)
    const request = order.json({})
    return new LoggedCall(call.id, this, () => request, request.length)
  }

  takes(bytes: number): boolean {
    const { queueBytes = 64 * 1024 * 1024 } = this.#settings.options
    if (this.#held + bytes > queueBytes) return false
    this.#held += bytes
    return true
  }

  gives(bytes: number): void {
    this.#held -= bytes
  }

  add(call: LoggedCall): void {
    this.#queue.add({ call })
  }

  dropped(call: LoggedCall, why: unknown): void {
    this.#dropped++
    this.#settings.failed(call.id, new Error('The content of a call was not kept.', { cause: why }))
  }

  /** Writes what waits, within `ms`. */
  async close(ms: number): Promise<void> {
    await Promise.all([this.#queue.drain(ms), this.#retention.close()])
  }

  #drop(item: Item, why: unknown): void {
    item.isDropped = true
    item.call.release()
    this.#held -= item.packed?.bytes.length ?? 0
    this.dropped(item.call, why)
  }

  async #send(batch: readonly Item[]): Promise<void> {
    const { store, guard } = this.#settings
    // The call that fills the batch does not wait for any of this.
    await nextTurn()
    for (const item of batch) if (item.packed === undefined && item.isDropped !== true) await this.#pack(item)
    const keys = await this.#keysOf(batch)
    const records = batch.map((item) => this.#record(item, keys)).filter((record) => record !== undefined)
    for (const some of portionsOf(records)) await guard.call(() => store.append(some))
    for (const { packed, isDropped } of batch) {
      if (isDropped === true) continue
      this.#written++
      this.#held -= packed?.bytes.length ?? 0
    }
  }

  async #pack(item: Item): Promise<void> {
    const { maxBytes = 4 * 1024 * 1024 } = this.#settings.options
    try {
      const content = await this.#redacted(await item.call.content(maxBytes))
      if (content === undefined) throw new Error('"content.redact" keeps nothing of it')
      const bytes = await packed(content)
      if (item.isDropped === true) return
      item.call.release()
      this.#held += bytes.length
      const { id, at, session } = content
      item.packed = { id, at, session, owner: ownerOf(content), bytes }
    } catch (error) {
      if (item.isDropped !== true) this.#drop(item, error)
    }
  }

  /** Undefined if the call was dropped, now or before. */
  #record(item: Item, keys: ReadonlyMap<string, ContentKey>): ContentRecord | undefined {
    const { cipher } = this.#settings
    if (item.isDropped === true || item.packed === undefined) return undefined
    try {
      return cipher.record(item.packed, keys.get(cipher.idOf(item.packed.owner)) as ContentKey)
    } catch (error) {
      this.#drop(item, error)
      return undefined
    }
  }

  async #redacted(content: LoggedContent): Promise<LoggedContent | undefined> {
    let kept: LoggedContent | undefined = content
    for (const redact of this.#redact) {
      if (kept === undefined) break
      kept = await redact(kept)
    }
    if (kept === undefined) return undefined
    // What leads to the content stays that of the call.
    const { user: _, session: __, ...rest } = kept
    const { id, account, user, session, at } = content
    return { ...rest, id, account, at, ...(user !== undefined && { user }), ...(session !== undefined && { session }) }
  }

  /** The keys of a batch by their ids, made where there is none. */
  async #keysOf(batch: readonly Item[]): Promise<ReadonlyMap<string, ContentKey>> {
    const { keyStore, keyGuard, cipher } = this.#settings
    const owners = new Map<string, ContentOwner>(
      batch.flatMap(({ packed }) => (packed ? [[cipher.idOf(packed.owner), packed.owner]] : [])),
    )
    if (owners.size === 0) return new Map()
    const found = await keyGuard.call(() => keyStore.find([...owners.keys()]))
    const keys = new Map(found.map((key) => [key.id, key]))
    const missing = [...owners].filter(([id]) => !keys.has(id)).map(([, owner]) => cipher.keyFor(owner))
    const made = missing.length === 0 ? [] : await keyGuard.call(() => keyStore.claim(missing))
    for (const key of made) keys.set(key.id, key)
    return keys
  }

  /** The keys first: without them the rest is unreadable, wherever it is. */
  async #removeBefore(day: string, most: number): Promise<number> {
    const { store, keyStore, guard, keyGuard } = this.#settings
    const keys = await keyGuard.call(() => keyStore.removeBefore(day, most))
    const records = await guard.call(() => store.removeBefore(day, most))
    return Math.max(keys, records)
  }
}

/** Databases take statements of a limited size. */
function portionsOf(records: readonly ContentRecord[]): ContentRecord[][] {
  const portions: ContentRecord[][] = []
  let size = Infinity
  for (const record of records) {
    if (size + record.body.length > portionBytes) {
      portions.push([])
      size = 0
    }
    portions.at(-1)?.push(record)
    size += record.body.length
  }
  return portions
}

function chosenBy(accounts: ContentOptions['accounts']): (call: InspectedCall) => boolean {
  if (accounts === undefined) return () => true
  if (typeof accounts === 'function') return accounts
  const names = new Set(accounts)
  return ({ caller }) => names.has(caller.account)
}

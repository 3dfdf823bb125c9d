import type { Caller } from '../../callers/contract.ts'
import type { ErrorCode } from '../../errors.ts'
import type { Guard } from '../../records/guard.ts'
import { Queue } from '../../records/queue.ts'
import { isStorable } from '../../records/storable-text.ts'
import type { Attribution } from './attribution.ts'
import type { UsageRecord, UsageStore } from './contract.ts'
import { eachUnit } from './units.ts'
import type { RefusedOptions } from './options.ts'
import { Retention } from './retention.ts'
import { NamedUsers, type Recording } from './users.ts'

const minuteMs = 60_000
const defaultKeepMs = 7 * 86_400_000

const nothing = eachUnit(() => 0)

/** What `RefusedLog` needs. */
export interface RefusedLogOptions {
  readonly store: Required<Pick<UsageStore, 'appendRefused'>> & UsageStore
  readonly refused: RefusedOptions
  /** Milliseconds for which usage records are kept. */
  readonly keepMs?: number | undefined
  readonly maxUsers: number
  readonly guard: Guard
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly failed: (id: string, error: unknown) => void
}

/** A request that was rejected before any attempt. */
export interface RefusedRequest extends Pick<UsageRecord, 'id' | 'endpoint' | 'stream' | 'startedAt' | 'totalMs'> {
  readonly caller: Caller
  readonly attribution: Attribution
  /** The model name that the client sent, if it was read. */
  readonly model: string | undefined
  readonly code: ErrorCode
}

/** Records requests that were rejected before any attempt: at most so many in a minute, because clients cause them at will. */
export class RefusedLog {
  readonly #options: RefusedLogOptions
  readonly #queue: Queue<Recording>
  readonly #retention: Retention | undefined
  #minute = 0
  #total = 0
  readonly #counts = new Map<string, number>()

  constructor(options: RefusedLogOptions) {
    const { store, refused, keepMs = Infinity, maxUsers, guard, now, failed } = options
    this.#options = options
    const users = new NamedUsers(store, maxUsers)
    const append = (batch: readonly Recording[]) => {
      const records = users.recordsOf(batch)
      return records instanceof Promise ? records.then((all) => store.appendRefused(all)) : store.appendRefused(records)
    }
    this.#queue = new Queue<Recording>({
      send: (batch) => guard.call(() => append(batch)),
      most: 1_000,
      dropped: ({ record: { id } }, error) => failed(id, error),
    })
    if (store.removeBefore === undefined) return
    const removeBefore = store.removeBefore.bind(store)
    this.#retention = new Retention({
      store: { removeBefore: (before, most, only) => guard.call(() => removeBefore(before, most, only)) },
      only: 'refused',
      keepMs: Math.min(refused.keepMs ?? defaultKeepMs, keepMs),
      now,
      failed: (error) => failed('usage.refused', error),
    })
  }

  /** Whether a further request of the account is recorded in this minute. If so, it counts, and `add` must follow. */
  admits(account: string): boolean {
    const { refused, now } = this.#options
    const { perAccount = 10, perMinute = 100 } = refused
    const minute = Math.floor(now() / minuteMs)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#total = 0
      this.#counts.clear()
    }
    const count = this.#counts.get(account) ?? 0
    if (count >= perAccount || this.#total >= perMinute) return false
    this.#counts.set(account, count + 1)
    this.#total++
    return true
  }

  add({ id, caller, attribution, endpoint, model, stream, code, startedAt, totalMs }: RefusedRequest): void {
    this.use()
    const record: UsageRecord = {
      id,
      account: caller.account,
      group: caller.group,
      ...(caller.key !== undefined && { key: caller.key }),
      ...attribution,
      endpoint,
      model: isStorable(model) ? model : '',
      outcome: 'refused',
      code,
      attempts: 0,
      stream,
      ...nothing,
      cost: 0n,
      overage: 0n,
      basis: 'none',
      startedAt,
      totalMs,
    }
    this.#queue.add({ record, userIsClaimed: caller.user === undefined })
  }

  /** Starts the deletion of old records, also those of earlier processes. Further calls do nothing. */
  use(): void {
    this.#retention?.use()
  }

  /** Sends what is queued, within `ms`. */
  async close(ms: number): Promise<void> {
    await Promise.all([this.#queue.drain(ms), this.#retention?.close()])
  }
}

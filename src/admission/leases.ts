import type { Hold, Ledger } from '../money/ledger/contract.ts'
import type { LimitStore } from '../money/limits/contract.ts'
import { Guard, type StoreFailed } from '../records/guard.ts'

/** The places and the hold of an open request. */
export interface Lease {
  readonly id: string
  readonly account: string
  readonly places: readonly string[]
  readonly held: boolean
}

export interface LeasesOptions {
  readonly limits: LimitStore
  readonly ledger: Ledger | undefined
  readonly leaseMs: number
  readonly timeoutMs: number
  readonly now: () => number
  readonly failed?: StoreFailed | undefined
}

/** Lease of the hold of a served request that could not be settled before shutdown: 24 hours. */
const keptMs = 24 * 3_600_000

/**
 * Renews the leases of open requests while this process lives; if it dies, they expire. Uses one timer, and none while
 * there is nothing to renew.
 */
export class Leases {
  readonly #options: LeasesOptions
  readonly #limitGuard: Guard
  readonly #ledgerGuard: Guard
  readonly #open = new Set<Lease>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: LeasesOptions) {
    this.#options = options
    const { timeoutMs, now, failed } = options
    this.#limitGuard = new Guard({ name: 'the limit store', timeoutMs, now, failed })
    this.#ledgerGuard = new Guard({ name: 'the ledger', timeoutMs, now, failed })
  }

  add(lease: Lease): void {
    this.#open.add(lease)
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => this.#renew(), this.#options.leaseMs / 3)
    this.#timer.unref()
  }

  delete(lease: Lease): void {
    this.#open.delete(lease)
  }

  /** The number of open requests that hold money. */
  get holds(): number {
    let holds = 0
    for (const { held } of this.#open) if (held) holds++
    return holds
  }

  /** Extends holds of served requests to a day: after shutdown no process renews them. */
  keep(holds: readonly Pick<Hold, 'id' | 'account'>[]): void {
    if (holds.length > 0) attempt(() => this.#ledgerGuard.call(() => this.#options.ledger?.renew(holds, keptMs)))
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #renew(): void {
    const { limits, ledger, leaseMs } = this.#options
    if (this.#open.size === 0) return this.close()
    const placed = [...this.#open].filter((lease) => lease.places.length > 0)
    const held = [...this.#open].filter((lease) => lease.held)
    if (placed.length > 0) attempt(() => this.#limitGuard.call(() => limits.renew(placed, leaseMs)))
    if (held.length > 0) attempt(() => this.#ledgerGuard.call(() => ledger?.renew(held, leaseMs)))
  }
}

/** Ignores failures: two more renewals follow before a lease expires, and an expired hold is still charged. */
function attempt(act: () => unknown): void {
  try {
    const result = act()
    if (result instanceof Promise) result.catch(() => undefined)
  } catch {
    // See above.
  }
}

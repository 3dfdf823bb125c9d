/** The places and holds of calls under way, renewed while this process lives: when it dies, they come back by themselves. */
import type { Hold, Ledger } from '../billing/contract.ts'
import type { LimitStore } from '../limits/contract.ts'
import { Guard } from '../store-access/guard.ts'

/** What a call under way holds. */
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
}

/** Milliseconds for which the hold of an answered call outlives a gateway that could not settle it. */
const keptMs = 24 * 3_600_000

/** One timer for all of them, and none while there is nothing to renew. */
export class Leases {
  readonly #options: LeasesOptions
  readonly #limitGuard: Guard
  readonly #ledgerGuard: Guard
  readonly #open = new Set<Lease>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: LeasesOptions) {
    this.#options = options
    const { timeoutMs, now } = options
    this.#limitGuard = new Guard({ name: 'the limit store', timeoutMs, now })
    this.#ledgerGuard = new Guard({ name: 'the ledger', timeoutMs, now })
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

  /** The holds last for a day: their calls were answered, and no process is there to renew them. */
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

/** There are two more ticks before a lease runs out, and what is lost by it is charged all the same. */
function attempt(act: () => unknown): void {
  try {
    const result = act()
    if (result instanceof Promise) result.catch(() => undefined)
  } catch {
    // As above.
  }
}

import type { Hold, HoldVerdict, Ledger, Settlement } from '../money/ledger/contract.ts'
import { GatewayError } from '../errors.ts'
import type { LimitClaim, LimitStore, LimitVerdict } from '../money/limits/contract.ts'
import type { AdmissionVerdict, AdmissionEnd, AdmissionStore } from './contract.ts'
import { Guard, type GuardOptions } from '../records/guard.ts'
import { Slices } from './slices/slices.ts'

type Result<T> = Promise<T> | T

export interface CountersVerdict extends Partial<AdmissionVerdict> {
  /** The limits were counted in this process, because the limit store is down. */
  readonly local?: boolean
  /** The limit store was called before it failed, so it may have drawn the claim. */
  readonly doubtful?: boolean
}

/** Limits and ledger behind one interface, whether an admission store or two stores keep them. */
export interface Counters {
  /** Whether `finish` updates limits and ledger in one call to an admission store. */
  readonly together: boolean
  /** Milliseconds for which slices last. 0: none are drawn. */
  readonly slicesMs: number
  /** Draws the claim and takes the hold, all or nothing. Throws or rejects with a 503 while a store is down. */
  admit(claim: LimitClaim | undefined, hold: Hold | undefined): Result<CountersVerdict>
  /** Gives back places, corrects rates, and settles or releases holds. */
  finish(endings: readonly AdmissionEnd[]): Result<void>
  /** Returns what was drawn in advance. */
  close(): Promise<void>
}

export interface CounterOptions extends Omit<GuardOptions, 'name'> {
  readonly limits: LimitStore
  /** Counts limits in this process while `limits` is down. Absent: requests with limits are then rejected. */
  readonly local: LimitStore | undefined
  readonly ledger: Ledger | undefined
  readonly admission: AdmissionStore | undefined
  /** Milliseconds for which slices may last. */
  readonly slicesMs: number
}

export function counters(options: CounterOptions): Counters {
  const { limits, ledger, admission, slicesMs, timeoutMs, now, failed } = options
  const guard = (name: string) => new Guard({ name, timeoutMs, now, failed })
  const apart = new Apart(options, guard('the limit store'), guard('the ledger'))
  if (admission === undefined || admission.limits !== limits || admission.ledger !== ledger) return apart
  return new Together(admission, slicesMs, guard('the store of limits and money'), apart)
}

class Together implements Counters {
  readonly together = true
  readonly #store: AdmissionStore
  readonly #guard: Guard
  readonly #apart: Counters
  readonly #slices: Slices
  readonly slicesMs: number

  constructor(store: AdmissionStore, slicesMs: number, guard: Guard, apart: Counters) {
    this.#store = store
    this.slicesMs = store.drawsSlices === true ? slicesMs : 0
    this.#slices = new Slices({
      ms: this.slicesMs,
      admit: (...given) => guard.call(() => store.admit(...given)),
      finish: (ends) => guard.call(() => store.finish([], ends)),
    })
    this.#guard = guard
    this.#apart = apart
  }

  admit(claim: LimitClaim | undefined, hold: Hold | undefined): Result<CountersVerdict> {
    if (hold !== undefined && (claim !== undefined || this.slicesMs > 0)) {
      return this.#slices.admit(claim ?? { id: hold.id, rates: [], places: [], leaseMs: hold.leaseMs }, hold)
    }
    return this.#apart.admit(claim, hold)
  }

  finish(endings: readonly AdmissionEnd[]): Result<void> {
    return this.#slices.tell((slices) => this.#guard.call(() => this.#store.finish(endings, slices)))
  }

  close(): Promise<void> {
    return this.#slices.close()
  }
}

/** A claim answered by the limit store or by this process. */
interface Taken extends CountersVerdict {
  readonly limits: LimitVerdict
}

class Apart implements Counters {
  readonly together = false
  readonly slicesMs = 0
  readonly #limits: LimitStore
  readonly #limitGuard: Guard
  readonly #local: LimitStore | undefined
  readonly #ledger: Ledger | undefined
  readonly #ledgerGuard: Guard

  constructor({ limits, local, ledger }: CounterOptions, limitGuard: Guard, ledgerGuard: Guard) {
    this.#limits = limits
    this.#limitGuard = limitGuard
    this.#local = local
    this.#ledger = ledger
    this.#ledgerGuard = ledgerGuard
  }

  admit(claim: LimitClaim | undefined, hold: Hold | undefined): Result<CountersVerdict> {
    if (claim === undefined) return then(this.#hold(hold), (held) => (held === undefined ? {} : { hold: held }))
    return then(this.#take(claim), (taken) => {
      if (!taken.limits.admitted || hold === undefined) return taken
      let held: Result<HoldVerdict | undefined>
      try {
        held = this.#hold(hold)
      } catch (error) {
        return then(this.#giveBack(claim, taken), () => {
          throw error
        })
      }
      if (!(held instanceof Promise)) return this.#both(claim, taken, held)
      return held.then(
        (outcome) => this.#both(claim, taken, outcome),
        async (error: unknown) => {
          await this.#giveBack(claim, taken)
          throw error
        },
      )
    })
  }

  finish(endings: readonly AdmissionEnd[]): Result<void> {
    const waits: Promise<unknown>[] = []
    for (const { returned, end } of endings) {
      if (returned !== undefined) collect(waits, () => this.#limitGuard.call(() => this.#limits.give(returned)))
      if (end !== undefined) collect(waits, () => this.#end(end))
    }
    return waits.length === 0 ? undefined : settled(waits)
  }

  async close(): Promise<void> {}

  #take(claim: LimitClaim): Result<Taken> {
    try {
      const verdict = this.#limitGuard.call(() => this.#limits.take(claim))
      if (!(verdict instanceof Promise)) return { limits: verdict }
      return verdict.then(
        (limits) => ({ limits }),
        (error: unknown) => this.#takeHere(claim, error, { local: true, doubtful: true }),
      )
    } catch (error) {
      return this.#takeHere(claim, error, { local: true })
    }
  }

  #takeHere(claim: LimitClaim, error: unknown, taken: CountersVerdict): Result<Taken> {
    const local = this.#local
    if (local === undefined || (GatewayError.is(error) && error.status !== 503)) throw error
    // Ends with this process, so the lease needs no renewal.
    return then(local.take({ ...claim, leaseMs: Infinity }), (limits) => ({ ...taken, limits }))
  }

  #hold(hold: Hold | undefined): Result<HoldVerdict | undefined> {
    const ledger = this.#ledger
    if (ledger === undefined || hold === undefined) return undefined
    return this.#ledgerGuard.call(() => ledger.hold(hold))
  }

  #end(end: NonNullable<AdmissionEnd['end']>): Result<unknown> {
    const ledger = this.#ledger
    if (ledger === undefined) return undefined
    return this.#ledgerGuard.call<unknown>(() => (isCharge(end) ? ledger.settle(end) : ledger.release(end)))
  }

  #both(claim: LimitClaim, taken: Taken, hold: HoldVerdict | undefined): Result<CountersVerdict> {
    if (hold === undefined) return taken
    if (hold.outcome === 'held') return { ...taken, hold }
    return then(this.#giveBack(claim, taken), () => ({ ...taken, hold }))
  }

  /** Returns what was drawn for a request that is rejected. If this fails, its caller loses a little of its own limit. */
  #giveBack({ id, rates, places }: LimitClaim, { local }: Taken): Result<void> {
    const corrections = rates.map((rule) => ({ ...rule, cost: -rule.cost }))
    const returned = { id, places: places.map((rule) => rule.bucket), corrections }
    if (local === true) return this.#local?.give(returned)
    try {
      const giving = this.#limitGuard.call(() => this.#limits.give(returned))
      return giving instanceof Promise ? giving.catch(() => undefined) : undefined
    } catch {
      return undefined
    }
  }
}

/** Whether the end of a call charges for it. */
export function isCharge(end: NonNullable<AdmissionEnd['end']>): end is Settlement {
  return end.amount !== undefined
}

function then<T, U>(value: Result<T>, next: (value: T) => Result<U>): Result<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Starts one of several operations. A failure is collected, so that the others are still started. */
function collect(waits: Promise<unknown>[], act: () => Result<unknown>): void {
  try {
    const answer = act()
    if (answer instanceof Promise) waits.push(answer)
  } catch (error) {
    waits.push(Promise.reject(error))
  }
}

async function settled(waits: Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(waits)
  const failure = results.find((result) => result.status === 'rejected')
  if (failure !== undefined) throw failure.reason
}

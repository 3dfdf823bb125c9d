/** Limits and ledger as one, whether a bundle keeps both in one step or they are two stores. Guarded in any case. */
import type { Hold, HoldVerdict, Ledger } from '../billing/contract.ts'
import type { Claim, LimitStore, Verdict } from '../limits/contract.ts'
import type { Admission, Ending, Joint } from './contract.ts'
import { Guard, type GuardOptions } from './guard.ts'

type Answer<T> = Promise<T> | T

export interface Counters {
  /** All or nothing. What is not asked for is not answered. Throws, or rejects with, 503 while a store is down. */
  admit(claim: Claim | undefined, hold: Hold | undefined): Answer<Partial<Admission>>
  finish(endings: readonly Ending[]): Answer<void>
}

export interface CounterOptions extends Omit<GuardOptions, 'name'> {
  readonly limits: LimitStore
  readonly ledger: Ledger | undefined
  readonly joint: Joint | undefined
}

export function counters(options: CounterOptions): Counters {
  const { limits, ledger, joint, timeoutMs, now } = options
  const guard = (name: string) => new Guard({ name, timeoutMs, now })
  const apart = new Apart(limits, guard('the limit store'), ledger, guard('the ledger'))
  if (joint === undefined || joint.limits !== limits || joint.ledger !== ledger) return apart
  return new Together(joint, guard('the store of limits and money'), apart)
}

class Together implements Counters {
  readonly #joint: Joint
  readonly #guard: Guard
  readonly #apart: Counters

  constructor(joint: Joint, guard: Guard, apart: Counters) {
    this.#joint = joint
    this.#guard = guard
    this.#apart = apart
  }

  admit(claim: Claim | undefined, hold: Hold | undefined): Answer<Partial<Admission>> {
    if (claim === undefined || hold === undefined) return this.#apart.admit(claim, hold)
    return this.#guard.call(() => this.#joint.admit(claim, hold))
  }

  finish(endings: readonly Ending[]): Answer<void> {
    return this.#guard.call(() => this.#joint.finish(endings))
  }
}

class Apart implements Counters {
  readonly #limits: LimitStore
  readonly #limitGuard: Guard
  readonly #ledger: Ledger | undefined
  readonly #ledgerGuard: Guard

  constructor(limits: LimitStore, limitGuard: Guard, ledger: Ledger | undefined, ledgerGuard: Guard) {
    this.#limits = limits
    this.#limitGuard = limitGuard
    this.#ledger = ledger
    this.#ledgerGuard = ledgerGuard
  }

  admit(claim: Claim | undefined, hold: Hold | undefined): Answer<Partial<Admission>> {
    if (claim === undefined) return then(this.#hold(hold), admission)
    const verdict = this.#limitGuard.call(() => this.#limits.take(claim))
    return then(verdict, (limits) => {
      if (!limits.admitted || hold === undefined) return { limits }
      let held: Answer<HoldVerdict | undefined>
      try {
        held = this.#hold(hold)
      } catch (error) {
        return then(this.#giveBack(claim), () => {
          throw error
        })
      }
      if (!(held instanceof Promise)) return this.#both(claim, limits, held)
      return held.then(
        (outcome) => this.#both(claim, limits, outcome),
        async (error: unknown) => {
          await this.#giveBack(claim)
          throw error
        },
      )
    })
  }

  finish(endings: readonly Ending[]): Answer<void> {
    const waits: Promise<unknown>[] = []
    for (const { returned, end } of endings) {
      if (returned !== undefined) collect(waits, () => this.#limitGuard.call(() => this.#limits.give(returned)))
      if (end !== undefined) collect(waits, () => this.#end(end))
    }
    return waits.length === 0 ? undefined : settled(waits)
  }

  #hold(hold: Hold | undefined): Answer<HoldVerdict | undefined> {
    const ledger = this.#ledger
    if (ledger === undefined || hold === undefined) return undefined
    return this.#ledgerGuard.call(() => ledger.hold(hold))
  }

  #end({ id, account, amount }: NonNullable<Ending['end']>): Answer<unknown> {
    const ledger = this.#ledger
    if (ledger === undefined) return undefined
    return this.#ledgerGuard.call<unknown>(() =>
      amount === undefined ? ledger.release({ id, account }) : ledger.settle({ id, account, amount }),
    )
  }

  #both(claim: Claim, limits: Verdict, hold: HoldVerdict | undefined): Answer<Partial<Admission>> {
    if (hold === undefined || hold.outcome === 'held') return { limits, ...(hold && { hold }) }
    return then(this.#giveBack(claim), () => ({ limits, hold }))
  }

  /** What was drawn for a call that is not made. A failure costs its caller a little of the limit, and nobody else. */
  #giveBack({ id, rates, places }: Claim): Answer<void> {
    const corrections = rates.map((rule) => ({ ...rule, cost: -rule.cost }))
    const returned = { id, places: places.map((rule) => rule.bucket), corrections }
    try {
      const giving = this.#limitGuard.call(() => this.#limits.give(returned))
      return giving instanceof Promise ? giving.catch(() => undefined) : undefined
    } catch {
      return undefined
    }
  }
}

function admission(hold: HoldVerdict | undefined): Partial<Admission> {
  return hold === undefined ? {} : { hold }
}

function then<T, U>(value: Answer<T>, next: (value: T) => Answer<U>): Answer<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Does one of several things; that one fails must not keep the others from being done. */
function collect(waits: Promise<unknown>[], act: () => Answer<unknown>): void {
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

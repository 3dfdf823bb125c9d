import { invalid } from '../errors.ts'
import type { Guard } from '../records/guard.ts'

/** A store as operations of administration ask it. */
export class GuardedStore<Store extends object> {
  /** Undefined without the options that need it. */
  readonly store: Store | undefined
  readonly #missing: string
  readonly #guard: Guard
  readonly #pageGuard: Guard

  /** `missing`: the message without a store. */
  constructor(store: Store | undefined, missing: string, guard: Guard, pageGuard: Guard) {
    this.store = store
    this.#missing = missing
    this.#guard = guard
    this.#pageGuard = pageGuard
  }

  /** Throws a 400 without a store, and a 503 if it fails. */
  ask<T>(question: (store: Store) => Promise<T> | T): Promise<T> {
    return this.#call(this.#guard, question)
  }

  /** The same for calls that may read many rows: they have more time and a separate breaker. */
  page<T>(question: (store: Store) => Promise<T> | T): Promise<T> {
    return this.#call(this.#pageGuard, question)
  }

  /** Takes one step after the other, until one returns false. */
  async steps(step: (store: Store) => Promise<boolean> | boolean): Promise<void> {
    while (await this.page(step)) await new Promise(setImmediate)
  }

  /** Removes at most `most` items in each step, which returns how many it has removed, until none are left. Returns how many they were. */
  async removeAll(step: (store: Store, most: number) => Promise<number> | number): Promise<number> {
    const most = 500
    let removed = 0
    await this.steps(async (store) => {
      const count = await step(store, most)
      removed += count
      return count === most
    })
    return removed
  }

  async #call<T>(guard: Guard, question: (store: Store) => Promise<T> | T): Promise<T> {
    const { store } = this
    if (store === undefined) throw invalid(this.#missing)
    return guard.call(() => question(store))
  }
}

import type { Guard } from '../../records/guard.ts'
import type { RegistryEntry, RegistryStore } from './contract.ts'

/** Milliseconds without a call after which nothing is watched. */
const idleMs = 20_000
/** Milliseconds until a failed read is repeated. */
const retryMs = 1_000
/** Milliseconds after which entries are read again if the store reports no changes. */
const ageMs = 10_000

/**
 * Reads all entries of a store, and again when it reports a change. Only while there are calls: a process without any asks the
 * store nothing, and reads anew with its next call.
 */
export class StoreReader {
  readonly #store: RegistryStore
  readonly #guard: Guard
  readonly #apply: (entries: readonly RegistryEntry[]) => void
  #isLoaded = false
  /** Whether what was read is current, as far as this process knows. */
  #isFresh = false
  #isUsed = false
  #isClosed = false
  #reading: Promise<void> | undefined
  /** Whether something changed during the read. */
  #again = false
  #unwatch: (() => void) | undefined
  #idle: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined

  constructor(store: RegistryStore, guard: Guard, apply: (entries: readonly RegistryEntry[]) => void) {
    this.#store = store
    this.#guard = guard
    this.#apply = apply
  }

  /** Whether the entries were read at least once. */
  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /**
   * To be called with each use of what was read. Undefined if that is current; otherwise resolves after the attempt to read it.
   * Never rejects: if the store fails, what was read last counts.
   */
  use(): Promise<void> | undefined {
    this.#isUsed = true
    if (this.#isFresh || this.#isClosed) return undefined
    this.#watch()
    return this.#reading ?? this.read()
  }

  /** Reads the entries as they are now, or later. Never rejects. */
  read(): Promise<void> {
    if (this.#reading === undefined) this.#reading = this.#readAll().finally(() => (this.#reading = undefined))
    // What has changed during a read may not be part of it.
    else this.#again = true
    return this.#reading
  }

  close(): void {
    this.#isClosed = true
    this.#rest()
  }

  async #readAll(): Promise<void> {
    do {
      this.#again = false
      clearTimeout(this.#retry)
      try {
        await this.#guard.call(async () => this.#apply(await this.#store.all()))
        this.#isLoaded = true
        this.#isFresh = this.#unwatch !== undefined
      } catch {
        // The guard reports it. Calls do not wait again for what is there already.
        this.#isFresh = this.#isLoaded && this.#unwatch !== undefined
        if (this.#unwatch !== undefined) this.#readAfter(retryMs)
        return
      }
    } while (this.#again)
    if (this.#unwatch !== undefined && this.#store.watch === undefined) this.#readAfter(ageMs)
  }

  #readAfter(ms: number): void {
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => void this.read(), ms).unref()
  }

  #watch(): void {
    if (this.#unwatch !== undefined) return
    this.#unwatch = this.#store.watch?.(() => void this.read()) ?? (() => undefined)
    this.#awaitIdle()
  }

  #awaitIdle(): void {
    this.#isUsed = false
    this.#idle = setTimeout(() => (this.#isUsed ? this.#awaitIdle() : this.#rest()), idleMs).unref()
  }

  #rest(): void {
    clearTimeout(this.#idle)
    clearTimeout(this.#retry)
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#isFresh = false
  }
}

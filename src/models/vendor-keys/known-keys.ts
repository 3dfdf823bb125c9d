import type { Guard } from '../../records/guard.ts'
import { boundedCache } from '../../bounded-cache.ts'
import type { Sealing } from '../../records/sealing.ts'
import type { VendorKeyName, VendorKeyStore } from './contract.ts'

/** What was read from the store is used for so long after the store was asked for its revision, in milliseconds. */
const mostMs = 900
/** From this age on, the store is asked in the background, so that busy processes never wait for it. */
const askedMs = 400
/** Accounts whose keys are kept, and for how long. */
const mostAccounts = 10_000
const keptMs = 60_000

/** The keys of an account by provider; the error of one that does not open. */
type Keys = ReadonlyMap<string, string | Error>

/**
 * The accounts' keys as this process knows them. They are as new as the store's revision of the last second: one question for all
 * accounts and calls, and none while there are no calls.
 */
export class KnownVendorKeys {
  readonly #store: VendorKeyStore
  readonly #guard: Guard
  readonly #sealing: Sealing
  readonly #ticks: () => number
  readonly #known = boundedCache<string, Keys>(mostAccounts, { ttl: keptMs })
  readonly #reading = new Map<string, Promise<Keys>>()
  #revision: string | undefined
  /** When the store was asked for it. */
  #asOf = -Infinity
  #asking: Promise<void> | undefined

  /** `ticks`: milliseconds, monotonic. */
  constructor(store: VendorKeyStore, guard: Guard, sealing: Sealing, ticks: () => number) {
    this.#store = store
    this.#guard = guard
    this.#sealing = sealing
    this.#ticks = ticks
  }

  /** The key; undefined if the account has none for the provider. Throws or rejects if it cannot be read. */
  find({ account, provider }: VendorKeyName): string | undefined | Promise<string | undefined> {
    const now = this.#ticks()
    const ageMs = now - this.#asOf
    if (ageMs > mostMs) return this.#renewed(now).then(async () => keyIn(await this.#of(account), provider))
    if (ageMs > askedMs) this.#ask().catch(() => undefined)
    const keys = this.#of(account)
    return keys instanceof Promise ? keys.then((read) => keyIn(read, provider)) : keyIn(keys, provider)
  }

  /** Forgets what was read, after a change by this process. Reads in progress are not kept either. */
  forget(): void {
    this.#known.clear()
    this.#reading.clear()
  }

  /** Until the revision is new enough for a call that came at `since`. A question under way may be too old. */
  async #renewed(since: number): Promise<void> {
    while (this.#asOf < since && this.#ticks() - this.#asOf > mostMs) await this.#ask()
  }

  #ask(): Promise<void> {
    return (this.#asking ??= this.#askOnce().finally(() => (this.#asking = undefined)))
  }

  async #askOnce(): Promise<void> {
    const asOf = this.#ticks()
    const revision = await this.#guard.call(() => this.#store.revision())
    if (revision !== this.#revision) this.forget()
    this.#revision = revision
    this.#asOf = asOf
  }

  #of(account: string): Keys | Promise<Keys> {
    return this.#known.get(account) ?? this.#reading.get(account) ?? this.#read(account)
  }

  #read(account: string): Promise<Keys> {
    const reading = this.#opened(account)
    this.#reading.set(account, reading)
    const ended = (keys?: Keys) => {
      if (this.#reading.get(account) !== reading) return
      this.#reading.delete(account)
      if (keys !== undefined) this.#known.set(account, keys)
    }
    reading.then(ended, () => ended())
    return reading
  }

  async #opened(account: string): Promise<Keys> {
    const records = await this.#guard.call(() => this.#store.list(account))
    // Bound to the account that was asked for, whatever the store returned.
    return new Map(records.map(({ provider, sealed }) => [provider, this.#openedOne(sealed, [account, provider])]))
  }

  #openedOne(sealed: string, boundTo: readonly string[]): string | Error {
    try {
      return this.#sealing.open(sealed, boundTo)
    } catch (error) {
      return error as Error
    }
  }
}

function keyIn(keys: Keys, provider: string): string | undefined {
  const key = keys.get(provider)
  if (key instanceof Error) throw key
  return key
}

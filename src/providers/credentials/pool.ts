/** Several keys at one vendor: each request takes one that works, and those of a conversation the same one. */
import { draw, seedOf, type Seed } from '../../conversation/draws.ts'
import { boundedCache } from '../../bounded-cache.ts'
import { ProviderError } from '../failure.ts'
import type { AuthHeaders, Credentials, KeyHolder, Refusal, UnsignedRequest } from './contract.ts'

/** How long a key without access is left alone; afterwards one request tries it. */
const deniedMs = 600_000
/** For a limit without a stated wait. */
const limitedMs = 10_000
/** How long others leave a key alone that one request tries: that one may never be answered. */
const triedMs = 10_000
/** Models that a key was refused for. Their names can come from clients. */
const maxModels = 1_000

class PooledKey {
  readonly holder: KeyHolder
  /** What the key is known by in all processes; reveals nothing about it. */
  readonly seed: Seed
  #pausedUntil = 0
  #isTried = false
  readonly #models = boundedCache<string, number>(maxModels)

  constructor(name: string, holder: KeyHolder, index: number) {
    this.holder = holder
    this.seed = seedOf(name === '' ? String(index) : name)
  }

  /** Milliseconds since the epoch from which a request may take the key. */
  usableAt(model: string | undefined): number {
    return Math.max(this.#pausedUntil, (model === undefined ? undefined : this.#models.get(model)) ?? 0)
  }

  /** After a pause one request tries the key, and the others still leave it alone. */
  take(now: number): void {
    if (this.#pausedUntil === 0) return
    this.#isTried = true
    this.#pausedUntil = now + triedMs
  }

  /** During a pause that nothing tries, it was a request from before. */
  accepted(now: number): void {
    if (this.#pausedUntil > now && !this.#isTried) return
    this.#pausedUntil = 0
    this.#isTried = false
  }

  pause(until: number): void {
    this.#pausedUntil = until
    this.#isTried = false
  }

  /** A 403 may concern the model alone. */
  pauseFor(model: string, until: number): void {
    this.#models.set(model, until)
  }
}

/** Keys that are used in turn, or by conversation; a refused one pauses. */
export class KeyPool implements Credentials {
  readonly #keys: readonly PooledKey[]
  readonly #keyOf = new WeakMap<AuthHeaders, PooledKey>()
  #turn = 0

  /** `name`: identifies the key in all processes; the key itself may serve. Empty: its place in the list. */
  constructor(keys: readonly { readonly name: string; readonly holder: KeyHolder }[]) {
    this.#keys = keys.map(({ name, holder }, index) => new PooledKey(name, holder, index))
  }

  headers(request: UnsignedRequest): AuthHeaders | Promise<AuthHeaders> {
    const key = this.#choose(request)
    const headers = key.holder.headers(request)
    if (!(headers instanceof Promise)) return this.#owned(headers, key)
    return headers.then((each) => this.#owned(each, key))
  }

  accepted(headers: AuthHeaders): void {
    this.#keyOf.get(headers)?.accepted(Date.now())
  }

  refused(headers: AuthHeaders, { reason, status, waitMs, model, earlier }: Refusal): boolean {
    const key = this.#keyOf.get(headers)
    if (key === undefined) return false
    const now = Date.now()
    // A token may have ended before its time. Each key has one more attempt.
    const isFirst = !earlier.some((each) => this.#keyOf.get(each) === key)
    if (status === 401 && key.holder.discard?.(headers) === true && isFirst) return true
    if (reason === 'request') return false
    if (reason === 'model' && model !== undefined) key.pauseFor(model, now + deniedMs)
    else key.pause(now + (reason === 'rate' ? (waitMs ?? limitedMs) : Math.max(deniedMs, waitMs ?? 0)))
    // Pauses may be shorter than the vendor takes to refuse the next key.
    if (earlier.length >= 2 * this.#keys.length) return false
    // The vendor's own answer says more than that no key is left.
    return this.#keys.length > 1 && this.#keys.some((each) => each.usableAt(model) <= now)
  }

  #owned(headers: AuthHeaders, key: PooledKey): AuthHeaders {
    this.#keyOf.set(headers, key)
    return headers
  }

  #choose({ model, conversation }: UnsignedRequest): PooledKey {
    const [only] = this.#keys
    // A single key is used even while it pauses: nothing else could serve the request.
    if (only !== undefined && this.#keys.length === 1) return only
    const now = Date.now()
    const usable = this.#keys.filter((key) => key.usableAt(model) <= now)
    const key = conversation === undefined ? usable[this.#turn++ % usable.length] : highest(usable, conversation)
    if (key === undefined) throw this.#exhausted(model, now)
    key.take(now)
    return key
  }

  #exhausted(model: string | undefined, now: number): ProviderError {
    const earliest = Math.min(...this.#keys.map((key) => key.usableAt(model)))
    return new ProviderError('upstream_credentials_exhausted', {
      retry: 'next',
      begun: false,
      retryAfterMs: Math.max(1_000, earliest - now),
      fault: 'provider_rejected',
    })
  }
}

/** The same key for a conversation in every process; one that is paused moves its own conversations only. */
function highest(keys: readonly PooledKey[], conversation: string): PooledKey | undefined {
  const own = seedOf(conversation)
  let [best] = keys
  let most = 0
  for (const key of keys) {
    const drawn = draw(own, key.seed)
    if (drawn <= most) continue
    most = drawn
    best = key
  }
  return best
}

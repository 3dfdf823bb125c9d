import { GatewayError } from '../errors.ts'
import { header, type Exchange } from '../http/exchange.ts'
import { within } from '../http/deadline.ts'
import { Guard } from '../store-access/guard.ts'
import { isStorable } from '../store-access/text.ts'
import { KeyCache, type KeyCacheOptions } from './cache.ts'
import type { Caller, KeyRecord, KeyStore } from './contract.ts'
import { hashKey, sameHash } from './key.ts'
import { OpenKeys } from './open-keys.ts'

/**
 * The host's own authentication, for sessions, JWTs and the like. Returns the caller, or undefined to fall back to the
 * bearer key. A rejection becomes a 503 unless it is a `GatewayError`.
 *
 * @example
 * const authenticate: Authenticate = async (exchange) => {
 *   const user = await userOfSession(header(exchange, 'cookie'))
 *   return user && { account: user.id, group: 'default' }
 * }
 */
export type Authenticate = (exchange: Exchange) => Promise<Caller | undefined> | Caller | undefined

export interface AuthOptions {
  readonly store: KeyStore
  readonly authenticate?: Authenticate | undefined
  readonly cache?: KeyCacheOptions | undefined
  /** Whether open requests end when their key expires or is revoked. */
  readonly endsCalls?: boolean
  /** Milliseconds to wait for the key store or for `authenticate`. Default 3,000. */
  readonly timeoutMs?: number | undefined
  readonly now: () => number
}

/** Resolves the caller of a request. Every rejection is the same 401, so that a response reveals nothing about a key. */
export class Authenticator {
  readonly #cache: KeyCache
  readonly #options: AuthOptions
  readonly #timeoutMs: number
  readonly #open: OpenKeys | undefined
  /** The key of each caller, if open requests end with their key. */
  readonly #records = new WeakMap<Caller, KeyRecord>()

  constructor(options: AuthOptions) {
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? 3_000
    const checked = (hash: string) => this.#open?.check(hash)
    this.#cache = new KeyCache(guarded(options.store, this.#timeoutMs), options.cache, checked)
    if (options.endsCalls !== true) return
    this.#open = new OpenKeys({
      find: (hash) => this.#cache.find(hash),
      isValid: (record, hash) => this.#isValid(record, hash),
      everyMs: options.cache?.ageMs ?? 10_000,
      now: options.now,
    })
  }

  /** Throws 401 `invalid_api_key`, or 503 while the key store or `authenticate` fails. */
  async authenticate(exchange: Exchange): Promise<Caller> {
    const { authenticate } = this.#options
    if (authenticate !== undefined) {
      const validated = async () => requireCaller(await authenticate(exchange))
      const caller = await orUnavailable(within(this.#timeoutMs, validated(), 'authenticate()'))
      if (caller !== undefined) return caller
    }
    const key = keyIn(exchange)
    if (key === undefined) throw new GatewayError('invalid_api_key')
    const hash = hashKey(key)
    const cached = this.#cache.find(hash)
    const record = cached instanceof Promise ? await orUnavailable(cached) : cached
    return this.#admit(record, hash)
  }

  /** Drops a key from the cache, by its hash. */
  forget(hash: string): void {
    this.#cache.forget(hash)
  }

  close(): void {
    this.#open?.close()
    this.#cache.close()
  }

  /** Calls `end` when the caller's key expires or is revoked, if that option is on. Returns the function that stops this. */
  follow(caller: Caller, end: (reason: GatewayError) => void): (() => void) | undefined {
    const record = this.#records.get(caller)
    return record && this.#open?.open(record.hash, record.expiresAt, end)
  }

  #isValid(record: KeyRecord | undefined, hash: string): record is KeyRecord {
    return (
      record !== undefined &&
      sameHash(record.hash, hash) &&
      record.revokedAt === undefined &&
      (record.expiresAt === undefined || record.expiresAt > this.#options.now())
    )
  }

  #admit(record: KeyRecord | undefined, hash: string): Caller {
    if (!this.#isValid(record, hash)) throw new GatewayError('invalid_api_key')
    const { account, group, id, rate } = record
    const caller = rate === undefined ? { account, group, key: id } : { account, group, key: id, rate }
    if (this.#open !== undefined) this.#records.set(caller, record)
    return caller
  }
}

/** A failed look-up is a 503, never a 401: the client's key may be valid. */
async function orUnavailable<T>(lookUp: Promise<T>): Promise<T> {
  try {
    return await lookUp
  } catch (error) {
    if (GatewayError.is(error)) throw error
    throw new GatewayError('service_unavailable', { cause: error, retryAfterMs: 1_000 })
  }
}

/** Limits each look-up in time: all requests with one key share a look-up, so one that hangs would block them all. */
function guarded(store: KeyStore, timeoutMs: number): KeyStore {
  const guard = new Guard({ name: 'the key store', timeoutMs, now: () => performance.now() })
  const watch = store.watch?.bind(store)
  return { find: (hash) => guard.call(() => store.find(hash)), ...(watch && { watch }) }
}

const longestAccount = 256
const bearerForm = /^bearer +([\x21-\x7e]{1,1024}) *$/i

/** Azure clients send the key as `api-key`, Anthropic clients as `x-api-key`. */
function keyIn(exchange: Exchange): string | undefined {
  const authorization = header(exchange, 'authorization')
  if (authorization !== undefined) return bearer(authorization)
  const key = header(exchange, 'api-key') ?? header(exchange, 'x-api-key')
  return key === undefined ? undefined : bearer(`Bearer ${key}`)
}

function bearer(value: string | undefined): string | undefined {
  return value === undefined ? undefined : bearerForm.exec(value)?.[1]
}

function requireCaller(value: Caller | undefined): Caller | undefined {
  if (value === undefined) return undefined
  const { account, group } = value
  if (account !== '' && isStorable(account, longestAccount) && isStorable(group)) return value
  throw new TypeError(
    `authenticate() must return { account: string, group: string } or undefined; an account has at most ${longestAccount} characters`,
  )
}

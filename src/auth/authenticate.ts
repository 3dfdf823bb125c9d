/** Authorization header → Caller. One refusal for every reason, so that an answer tells nothing about keys. */
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
 * The host's own source of callers, for sessions, JWTs and the like. Undefined: not known here, try the bearer key.
 * A rejection is answered with 503 unless it is a `GatewayError`.
 */
export type Authenticate = (exchange: Exchange) => Promise<Caller | undefined> | Caller | undefined

export interface AuthOptions {
  readonly store: KeyStore
  readonly authenticate?: Authenticate | undefined
  readonly cache?: KeyCacheOptions | undefined
  /** Calls under way end with their key. */
  readonly endsCalls?: boolean
  /** Milliseconds to wait for the store or the host. Default 3,000. */
  readonly timeoutMs?: number | undefined
  readonly now: () => number
}

export class Authenticator {
  readonly #cache: KeyCache
  readonly #options: AuthOptions
  readonly #timeoutMs: number
  readonly #open: OpenKeys | undefined
  /** Of callers with a key, where calls end with it. */
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

  /** Throws 401 `invalid_api_key`, or 503 while the source of callers does not answer. */
  async authenticate(exchange: Exchange): Promise<Caller> {
    const { authenticate } = this.#options
    if (authenticate !== undefined) {
      const asked = async () => requireCaller(await authenticate(exchange))
      const caller = await told(within(this.#timeoutMs, asked(), 'authenticate()'))
      if (caller !== undefined) return caller
    }
    const key = keyIn(exchange)
    if (key === undefined) throw new GatewayError('invalid_api_key')
    const hash = hashKey(key)
    const cached = this.#cache.find(hash)
    const record = cached instanceof Promise ? await told(cached) : cached
    return this.#admit(record, hash)
  }

  /** What is cached of a key is looked up again, by its hash. */
  forget(hash: string): void {
    this.#cache.forget(hash)
  }

  close(): void {
    this.#open?.close()
    this.#cache.close()
  }

  /** Calls `end` when the caller's key ends, if calls do. Returns what is to be called at the end of the call. */
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

/** Whatever goes wrong at the source of callers, a client's key is not to blame for it. */
async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (GatewayError.is(error)) throw error
    throw new GatewayError('service_unavailable', { cause: error, retryAfterMs: 1_000 })
  }
}

/** A look-up that is never answered must end, or everybody with that key would wait for it. */
function guarded(store: KeyStore, timeoutMs: number): KeyStore {
  const guard = new Guard({ name: 'the key store', timeoutMs, now: () => performance.now() })
  const watch = store.watch?.bind(store)
  return { find: (hash) => guard.call(() => store.find(hash)), ...(watch && { watch }) }
}

const longestAccount = 256
const bearerForm = /^bearer +([\x21-\x7e]{1,1024}) *$/i

/** Clients of Azure and of Anthropic have headers of their own for the key. */
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
    `authenticate() must give a caller { account: string, group: string } or undefined; no account is longer than ${longestAccount} characters`,
  )
}

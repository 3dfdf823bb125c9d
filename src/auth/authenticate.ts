/** Authorization header → Caller. One refusal for every reason, so that an answer tells nothing about keys. */
import { GatewayError } from '../errors.ts'
import { header, type Exchange } from '../http/exchange.ts'
import { within } from '../http/deadline.ts'
import { Guard } from '../storage/guard.ts'
import { KeyCache, type KeyCacheOptions } from './cache.ts'
import type { Caller, KeyRecord, KeyStore } from './contract.ts'
import { hashKey, sameHash } from './key.ts'

/**
 * The host's own source of callers, for sessions, JWTs and the like. Undefined: not known here, try the bearer key.
 * A rejection is answered with 503 unless it is a `GatewayError`.
 */
export type Authenticate = (exchange: Exchange) => Promise<Caller | undefined> | Caller | undefined

export interface AuthOptions {
  readonly store: KeyStore
  readonly authenticate?: Authenticate | undefined
  readonly cache?: KeyCacheOptions | undefined
  /** Milliseconds to wait for the store or the host. Default 3,000. */
  readonly timeoutMs?: number | undefined
  readonly now: () => number
}

export class Doorkeeper {
  readonly #cache: KeyCache
  readonly #options: AuthOptions
  readonly #timeoutMs: number

  constructor(options: AuthOptions) {
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? 3_000
    this.#cache = new KeyCache(guarded(options.store, this.#timeoutMs), options.cache)
  }

  /** Throws 401 `invalid_api_key`, or 503 while the source of callers does not answer. */
  async authenticate(exchange: Exchange): Promise<Caller> {
    const { authenticate } = this.#options
    if (authenticate !== undefined) {
      const asked = async () => requireCaller(await authenticate(exchange))
      const caller = await told(within(this.#timeoutMs, asked(), 'authenticate()'))
      if (caller !== undefined) return caller
    }
    const key = bearer(header(exchange, 'authorization'))
    if (key === undefined) throw new GatewayError('invalid_api_key')
    const hash = hashKey(key)
    const cached = this.#cache.find(hash)
    const record = cached instanceof Promise ? await told(cached) : cached
    return this.#admit(record, hash)
  }

  close(): void {
    this.#cache.close()
  }

  #admit(record: KeyRecord | undefined, hash: string): Caller {
    const valid =
      record !== undefined &&
      sameHash(record.hash, hash) &&
      record.revokedAt === undefined &&
      (record.expiresAt === undefined || record.expiresAt > this.#options.now())
    if (!valid) throw new GatewayError('invalid_api_key')
    const { account, group, id, rate } = record
    return rate === undefined ? { account, group, key: id } : { account, group, key: id, rate }
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

const bearerForm = /^bearer +([\x21-\x7e]{1,1024}) *$/i

function bearer(value: string | undefined): string | undefined {
  return value === undefined ? undefined : bearerForm.exec(value)?.[1]
}

function requireCaller(value: Caller | undefined): Caller | undefined {
  if (value === undefined) return undefined
  const { account, group } = value
  if (typeof account === 'string' && account !== '' && typeof group === 'string') return value
  throw new TypeError('authenticate() must give a caller { account: string, group: string } or undefined')
}

import { GatewayError } from '../errors.ts'
import { header, type Exchange } from '../http/exchange.ts'
import { within } from '../http/deadline.ts'
import { isGoogles, queryOf } from '../http/target.ts'
import { Guard, type StoreFailed } from '../records/guard.ts'
import { isStorable } from '../records/storable-text.ts'
import { isWithin } from './addresses.ts'
import { KeyCache, type KeyCacheOptions } from './cache.ts'
import type { Caller, KeyRecord, KeyStore } from './contract.ts'
import { hashKey, sameHash } from './key.ts'
import { OpenKeys } from './open-keys.ts'
import { isModels, isName, isTags, longestUser, modelsForm, tagsForm } from './users-and-tags.ts'

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
  /** Whether the key may be in the query of a target of Google's API. */
  readonly keyInQuery?: boolean | undefined
  /** Whether open requests end when their key expires or is revoked. */
  readonly endsCalls?: boolean
  /** Milliseconds to wait for the key store or for `authenticate`. Default 3,000. */
  readonly timeoutMs?: number | undefined
  readonly now: () => number
  /** Called for each look-up that fails. */
  readonly failed?: StoreFailed | undefined
}

/** Resolves the caller of a request. Every rejection is the same 401, so that a response reveals nothing about a key. */
export class Authenticator {
  readonly #cache: KeyCache
  readonly #options: AuthOptions
  readonly #timeoutMs: number
  readonly #open: OpenKeys | undefined
  /** The key of each caller, if open requests end with their key. */
  readonly #records = new WeakMap<Caller, KeyRecord>()
  /** The latest caller of each key: while it stays the same object, what depends on it alone is computed once. */
  readonly #callers = new WeakMap<KeyRecord, Caller>()

  constructor(options: AuthOptions) {
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? 3_000
    const checked = (hash: string) => this.#open?.check(hash)
    this.#cache = new KeyCache(guarded(options.store, this.#timeoutMs, options.failed), options.cache, checked)
    if (options.endsCalls !== true) return
    this.#open = new OpenKeys({
      find: (hash) => this.#cache.find(hash),
      isValid: (record, hash) => this.#isValid(record, hash),
      everyMs: options.cache?.ageMs ?? 10_000,
      now: options.now,
    })
  }

  /** Throws or rejects with 401 `invalid_api_key`, or 503 while the key store or `authenticate` fails. */
  authenticate(exchange: Exchange): Promise<Caller> | Caller {
    const { authenticate } = this.#options
    if (authenticate === undefined) return this.#callerByKey(exchange)
    const validated = async () => requireCaller(await authenticate(exchange))
    const validating = orUnavailable(within(this.#timeoutMs, validated(), 'authenticate()'))
    return validating.then((caller) => caller ?? this.#callerByKey(exchange))
  }

  #callerByKey(exchange: Exchange): Promise<Caller> | Caller {
    const key = keyIn(exchange) ?? (this.#options.keyInQuery === true ? keyInQuery(exchange) : undefined)
    if (key === undefined) throw new GatewayError('invalid_api_key')
    const hash = hashKey(key)
    const found = this.#cache.find(hash)
    if (!(found instanceof Promise)) return this.#admit(found, hash, exchange)
    return orUnavailable(found).then((record) => this.#admit(record, hash, exchange))
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

  #admit(record: KeyRecord | undefined, hash: string, exchange: Exchange): Caller {
    if (!this.#isValid(record, hash)) throw new GatewayError('invalid_api_key')
    const { id, addresses } = record
    if (addresses !== undefined && !isWithin(addresses, exchange.ip)) {
      const cause = new Error(`the key ${id} may not be used from ${exchange.ip ?? 'an unknown address'}`)
      throw new GatewayError('invalid_api_key', { cause })
    }
    const known = this.#callers.get(record)
    if (known !== undefined && isCallerOf(record, known)) return known
    const caller = callerOf(record)
    this.#callers.set(record, caller)
    if (this.#open !== undefined) this.#records.set(caller, record)
    return caller
  }
}

function callerOf({ account, group, id, continues, rate, caps, user, tags, models }: KeyRecord): Caller {
  return {
    account,
    group,
    key: continues ?? id,
    ...(rate !== undefined && { rate }),
    ...(caps !== undefined && { caps }),
    ...(user !== undefined && { user }),
    ...(tags !== undefined && { tags }),
    ...(models !== undefined && { models }),
  }
}

/** Whether the store has not changed the record since, which it may do in place. */
function isCallerOf(
  { account, group, id, continues, rate, caps, user, tags, models }: KeyRecord,
  known: Caller,
): boolean {
  return (
    account === known.account &&
    group === known.group &&
    (continues ?? id) === known.key &&
    rate === known.rate &&
    caps === known.caps &&
    user === known.user &&
    tags === known.tags &&
    models === known.models
  )
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
function guarded(store: KeyStore, timeoutMs: number, failed: StoreFailed | undefined): KeyStore {
  const guard = new Guard({ name: 'the key store', timeoutMs, now: () => performance.now(), failed })
  const watch = store.watch?.bind(store)
  return { find: (hash) => guard.call(() => store.find(hash)), ...(watch && { watch }) }
}

const bearerForm = /^bearer +([\x21-\x7e]{1,1024}) *$/i

/** A bearer token, valid or not. */
const namesKey = /^bearer +\S/i

/** Clients that were set up for LiteLLM send the key in this header, and may send one of a vendor in the others. */
const ofGateways = 'x-litellm-api-key'

const keyHeaders = ['api-key', 'x-api-key', 'x-goog-api-key']

/** All headers that may carry a key. */
export const allKeyHeaders: readonly string[] = ['authorization', ofGateways, ...keyHeaders]

/**
 * Azure clients send the key as `api-key`, Anthropic clients as `x-api-key`, Google clients as `x-goog-api-key`. A proxy may
 * have a use of its own for `Authorization`, such as a password.
 */
function keyIn(exchange: Exchange): string | undefined {
  const own = header(exchange, ofGateways)
  if (own !== undefined) return bearer(/^bearer /i.test(own) ? own : `Bearer ${own}`)
  const authorization = header(exchange, 'authorization')
  if (authorization !== undefined) {
    const key = bearer(authorization)
    if (key !== undefined || namesKey.test(authorization)) return key
  }
  for (const name of keyHeaders) {
    const key = header(exchange, name)
    if (key !== undefined) return bearer(`Bearer ${key}`)
  }
  return undefined
}

function keyInQuery({ target }: Exchange): string | undefined {
  const key = isGoogles(target) ? queryOf(target).get('key') : null
  return key === null ? undefined : bearer(`Bearer ${key}`)
}

function bearer(value: string | undefined): string | undefined {
  return value === undefined ? undefined : bearerForm.exec(value)?.[1]
}

function requireCaller(value: Caller | undefined): Caller | undefined {
  if (value === undefined) return undefined
  const { account, group, user, tags, models } = value
  if (!isName(account, longestUser) || !isStorable(group)) {
    throw new TypeError(
      `authenticate() must return { account: string, group: string } or undefined; an account has at most ${longestUser} characters`,
    )
  }
  if (user !== undefined && !isName(user, longestUser)) {
    throw new TypeError(`authenticate() returned an invalid user: it must have 1 to ${longestUser} characters`)
  }
  if (tags !== undefined && !isTags(tags)) throw new TypeError(`authenticate() returned invalid tags: ${tagsForm}`)
  if (models !== undefined && !isModels(models)) throw new TypeError(`authenticate(): "models" must be ${modelsForm}`)
  return value
}

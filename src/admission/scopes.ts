import type { Caller } from '../callers/contract.ts'
import { ownedBy } from '../money/limits/bucket.ts'
import type { PlaceRule } from '../money/limits/contract.ts'
import type { Measure, Measured } from '../money/limits/headers.ts'
import type { Groups } from '../models/group-fields.ts'
import type { Model } from '../models/contract.ts'
import { parseFrequency, type Rate, type Refill, type ScopedRate } from '../records/rate.ts'

/** One set of limits that a request must pass: those of its key, its group or its model. */
export interface Scope {
  /** Prefix of the counters' names. */
  readonly name: string
  /** See `Measured`. */
  readonly owner: string
  readonly limits: ParsedRate
  /** What every request draws. */
  readonly request: Measured | undefined
  readonly place: PlaceRule | undefined
  /** Name of the bucket of tokens. */
  readonly tokens: string
}

export interface ParsedRate {
  readonly requests?: Refill
  readonly tokens?: Refill
  readonly concurrent?: number
}

const parsedRates = new WeakMap<Rate, ParsedRate>()

const none: readonly Scope[] = []

/** The scopes of key and group, known before the body is read. Throws a `TypeError` for invalid limits of a key. */
export function callerScopes(caller: Caller, groups: Groups): readonly Scope[] {
  const rate = Object.hasOwn(groups, caller.group) ? groups[caller.group]?.rate : undefined
  if (caller.rate === undefined && rate === undefined) return none
  const scopes: Scope[] = []
  if (caller.rate !== undefined) {
    scopes.push(scopeNamed(ownedBy(caller.account, ownerOf(caller)), ofCaller(caller), parse(caller.rate)))
  }
  if (rate !== undefined) {
    const name = `group ${quoted(caller.group)}`
    scopes.push(scopeOf({ name, all: 'your group', each: '' }, rate, rate.per ?? 'account', caller))
  }
  return scopes
}

export function modelScope(model: Model, caller: Caller): Scope | undefined {
  const { id, rate } = model
  if (rate === undefined) return undefined
  const all = `the model ${quoted(id)}`
  return scopeOf({ name: `model ${quoted(id)}`, all, each: ` for ${all}` }, rate, rate.per ?? 'all', caller)
}

/** What is limited. `all`, `each`: its name for people, and what follows the name of an account or key. */
interface Limited {
  readonly name: string
  readonly all: string
  readonly each: string
}

function scopeOf(
  { name, all, each }: Limited,
  rate: ScopedRate,
  per: NonNullable<ScopedRate['per']>,
  caller: Caller,
): Scope {
  const limits = parse(rate)
  switch (per) {
    case 'all':
      return scopeNamed(name, all, limits)
    case 'account':
      return scopeNamed(ownedBy(caller.account, name), `this account${each}`, limits)
    case 'key':
      return scopeNamed(ownedBy(caller.account, `${name} ${ownerOf(caller)}`), `${ofCaller(caller)}${each}`, limits)
  }
}

function scopeNamed(name: string, owner: string, limits: ParsedRate): Scope {
  const { requests, concurrent } = limits
  const rule = requests && { bucket: bucketOf(name, 'requests'), ...requests, cost: 1 }
  return {
    name,
    owner,
    limits,
    request: rule && { measure: 'requests', rule, owner },
    place: concurrent === undefined ? undefined : { bucket: `${name} places`, places: concurrent },
    tokens: bucketOf(name, 'tokens'),
  }
}

function bucketOf(scope: string, measure: Measure): string {
  return `${scope} ${measure}`
}

/** A caller that `authenticate` admitted without a key is identified by its account. */
export function ownerOf({ key, account }: Pick<Caller, 'key' | 'account'>): string {
  return key === undefined ? `keyless ${quoted(account)}` : `key ${quoted(key)}`
}

/** For people. */
export function ofCaller({ key }: Pick<Caller, 'key'>): string {
  return key === undefined ? 'this account' : 'this key'
}

/** Quoted, so that joined names cannot collide. */
export function quoted(name: string): string {
  return JSON.stringify(name)
}

function parse(rate: Rate): ParsedRate {
  let limits = parsedRates.get(rate)
  if (limits === undefined) {
    const { requests, tokens, concurrent } = rate
    limits = {
      ...(requests !== undefined && { requests: parseFrequency(requests) }),
      ...(tokens !== undefined && { tokens: parseFrequency(tokens) }),
      ...(concurrent !== undefined && { concurrent }),
    }
    parsedRates.set(rate, limits)
  }
  return limits
}

import type { Caller } from '../auth/contract.ts'
import type { Groups } from '../models/access.ts'
import type { Model } from '../models/contract.ts'
import { parseFrequency, type Rate, type Refill, type ScopedRate } from '../limits/rate.ts'

/** One set of limits that a request must pass: those of its key, its group or its model. */
export interface Scope {
  /** Prefix of the counters' names. */
  readonly name: string
  readonly limits: ParsedRate
}

export interface ParsedRate {
  readonly requests?: Refill
  readonly tokens?: Refill
  readonly concurrent?: number
}

const parsed = new WeakMap<Rate, ParsedRate>()

const none: readonly Scope[] = []

/** The scopes of key and group, known before the body is read. Throws a `TypeError` for invalid limits of a key. */
export function callerScopes(caller: Caller, groups: Groups): readonly Scope[] {
  const rate = Object.hasOwn(groups, caller.group) ? groups[caller.group]?.rate : undefined
  if (caller.rate === undefined && rate === undefined) return none
  const scopes: Scope[] = []
  if (caller.rate !== undefined) scopes.push({ name: ownerOf(caller), limits: parse(caller.rate) })
  if (rate !== undefined) scopes.push(scopeOf(`group ${quoted(caller.group)}`, rate, rate.per ?? 'account', caller))
  return scopes
}

export function modelScope(model: Model, caller: Caller): Scope | undefined {
  const { id, rate } = model
  return rate && scopeOf(`model ${quoted(id)}`, rate, rate.per ?? 'all', caller)
}

function scopeOf(name: string, rate: ScopedRate, per: NonNullable<ScopedRate['per']>, caller: Caller): Scope {
  const limits = parse(rate)
  switch (per) {
    case 'all':
      return { name, limits }
    case 'account':
      return { name: `${name} account ${quoted(caller.account)}`, limits }
    case 'key':
      return { name: `${name} ${ownerOf(caller)}`, limits }
  }
}

/** A caller that `authenticate` admitted without a key is identified by its account. */
function ownerOf({ key, account }: Caller): string {
  return key === undefined ? `keyless ${quoted(account)}` : `key ${quoted(key)}`
}

/** Quoted, so that joined names cannot collide. */
function quoted(name: string): string {
  return JSON.stringify(name)
}

function parse(rate: Rate): ParsedRate {
  let limits = parsed.get(rate)
  if (limits === undefined) {
    const { requests, tokens, concurrent } = rate
    limits = {
      ...(requests !== undefined && { requests: parseFrequency(requests) }),
      ...(tokens !== undefined && { tokens: parseFrequency(tokens) }),
      ...(concurrent !== undefined && { concurrent }),
    }
    parsed.set(rate, limits)
  }
  return limits
}

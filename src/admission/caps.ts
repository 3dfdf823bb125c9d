/** The caps of a caller, as claims of a hold. */
import crypto from 'node:crypto'
import { periodsAround } from '../records/calendar.ts'
import { matches } from '../records/pattern.ts'
import type { Cap, ScopedCap } from '../records/cap.ts'
import type { CapClaim, CapLimits, CapMeasure, CapPeriods } from '../money/caps/contract.ts'
import type { Caller } from '../callers/contract.ts'
import { parseMoney } from '../money/money.ts'
import { scopedCap } from '../records/cap-rules.ts'
import { verify } from '../records/rules.ts'
import type { Groups } from '../models/group-fields.ts'
import { ownerOf, quoted } from './scopes.ts'

/** A cap that applies to a caller. */
export interface CallerCap {
  readonly cap: Cap
  /** Whose use it counts. */
  readonly per: NonNullable<ScopedCap['per']>
  /** The name of its claims. */
  readonly name: string
  readonly rule: CapRule
  /** The tag of which it counts the use, if it counts tags. */
  readonly tag?: string
  /** The model of the call, if it counts models. */
  readonly model?: string
}

const none: readonly never[] = []

/** Whom caps are looked up for. */
export type CappedCaller = Pick<Caller, 'account' | 'group' | 'key' | 'user' | 'tags' | 'caps'>

/**
 * The caps of a caller's key, of its group, and of all callers. Without a model, those that depend on it are left out. Throws a
 * `TypeError` for invalid caps of a key.
 */
export function callerCaps(
  caller: CappedCaller,
  model: string | undefined,
  groups: Groups,
  forAll: readonly ScopedCap[] | undefined,
): readonly CallerCap[] {
  const ofGroup = Object.hasOwn(groups, caller.group) ? groups[caller.group]?.caps : undefined
  if (caller.caps === undefined && ofGroup === undefined && forAll === undefined) return none
  const found: CallerCap[] = []
  for (const cap of caller.caps ?? []) {
    if (!counts(cap, model)) continue
    found.push({ cap, per: 'key', name: bounded(`cap ${ownerOf(caller)} ${quoted(cap.name)}`), rule: ruleOf(cap) })
  }
  for (const cap of ofGroup ?? [])
    add(found, cap, `cap group ${quoted(caller.group)} ${quoted(cap.name)}`, caller, model)
  for (const cap of forAll ?? []) add(found, cap, `cap ${quoted(cap.name)}`, caller, model)
  return found
}

function counts({ models }: Cap, model: string | undefined): boolean {
  return models === undefined || (model !== undefined && models.some((name) => matches(name, model)))
}

function add(
  found: CallerCap[],
  cap: ScopedCap,
  prefix: string,
  caller: CappedCaller,
  model: string | undefined,
): void {
  if (!counts(cap, model)) return
  const { per = 'account' } = cap
  const put = (owner: string, more?: Pick<CallerCap, 'tag' | 'model'>) =>
    found.push({ cap, per, name: bounded(`${prefix}${owner}`), rule: ruleOf(cap), ...more })
  const { account, group, user, tags = none } = caller
  const ofAccount = ` account ${quoted(account)}`
  switch (per) {
    case 'all':
      return void put('')
    case 'account':
      return void put(ofAccount)
    case 'key':
      return void put(` ${ownerOf(caller)}`)
    case 'group':
      return void put(` group ${quoted(group)}`)
    case 'user':
      if (user !== undefined) put(`${ofAccount} user ${quoted(user)}`)
      return
    case 'model':
      if (model !== undefined) put(` model ${quoted(model)}`, { model })
      return
    case 'tag':
      for (const tag of new Set(tags)) put(`${ofAccount} tag ${quoted(tag)}`, { tag })
  }
}

/** A name of at most 512 characters. */
function bounded(name: string): string {
  return name.length <= 512 ? name : `sha256 ${crypto.hash('sha256', name)}`
}

/** A cap, read. */
export interface CapRule {
  readonly measures: readonly CapMeasure[]
  readonly limits: CapLimits
  readonly window: string
  /** The periods around a time. */
  readonly periodsAt: (now: number) => CapPeriods
}

const rules = new WeakMap<Cap, CapRule>()

function ruleOf(cap: Cap): CapRule {
  let rule = rules.get(cap)
  if (rule === undefined) rules.set(cap, (rule = read(cap)))
  return rule
}

function read(cap: Cap): CapRule {
  // Those of options and keys were checked before, those that authenticate() returns were not.
  verify(scopedCap, cap, 'caps', 'authenticate')
  const { money, tokens, calls } = cap
  const limits = {
    ...(typeof money === 'string' && { money: parseMoney(money) }),
    ...(typeof tokens === 'number' && { tokens: BigInt(tokens) }),
    ...(typeof calls === 'number' && { calls: BigInt(calls) }),
  }
  const measures = (['money', 'tokens', 'calls'] as const).filter((measure) => cap[measure] !== undefined)
  return { measures, limits, ...windowOf(cap) }
}

function windowOf({ period, timeZone = 'UTC', weekStart = 'monday' }: Cap): Pick<CapRule, 'window' | 'periodsAt'> {
  if (typeof period === 'object') {
    const { rollingMs, grainMs = rollingMs / 24 } = period
    return { window: `rolling ${rollingMs} ${grainMs}`, periodsAt: () => ({ grainMs, rollingMs }) }
  }
  let boundaries: readonly number[] = []
  return {
    window: period === 'week' ? `week ${weekStart} ${timeZone}` : `${period} ${timeZone}`,
    periodsAt(now) {
      const [, start = Infinity, end = -Infinity] = boundaries
      if (now < start || now >= end) boundaries = periodsAround(period, now, { timeZone, weekStart })
      return { boundaries }
    },
  }
}

export function claimsOf(caps: readonly CallerCap[], now: number): CapClaim[] {
  return caps.map(({ name, rule: { window, periodsAt, limits } }) => ({
    name,
    window,
    periods: periodsAt(now),
    limits,
  }))
}

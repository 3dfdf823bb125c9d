/** Compares what was recorded with what a vendor reports. */
import type { UsageRecord } from '../../observe/usage/contract.ts'
import { undated } from '../../providers/undated.ts'
import { dayOf } from '../../records/calendar.ts'
import type { Counts, DifferenceCause, VendorReport, VendorUsage } from './contract.ts'

/** The cost of tokens of a model in billionths of the currency. Undefined if its price is not known. */
export type Value = (model: string, counts: Counts, tier?: string) => bigint | undefined

/** A period of a model in which tokens differ. */
export interface Finding extends Counts {
  /** Why. */
  readonly cause: DifferenceCause | 'unexplained'
  /** The vendor's name of the model, without the day of its version. */
  readonly model: string
  /** Start of the period. Milliseconds since the epoch. */
  readonly at: number
}

/** A model on a day. Costs are billionths of the currency. */
export interface ComparedDay {
  readonly model: string
  /** In UTC, as `YYYY-MM-DD`. */
  readonly day: string
  readonly ours: Counts & { readonly cost: bigint }
  readonly theirs: Counts & { readonly cost: bigint }
  readonly causes: Readonly<Partial<Record<DifferenceCause, bigint>>>
  /** `theirs.cost` less `ours.cost` and all causes. */
  readonly unexplained: bigint
}

export type Sums = { -readonly [Name in keyof Counts]: Counts[Name] }

/** What was recorded of a model on a day. */
export interface RecordedDay extends Sums {
  cost: bigint
  /** Requests whose cost is not known. */
  uncosted: number
}

/** What was recorded of a model in a period. */
export interface Period extends Sums {
  cuts: number
  retries: number
}

/** What is counted. */
export const countNames: readonly (keyof Counts)[] = ['requests', 'inputTokens', 'cachedTokens', 'outputTokens']
/** Counts of nothing. */
export const nothing: Counts = { requests: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0 }

/** What the records of a vendor say, added up while they are read. */
export class Books {
  readonly periods: Map<string, Period> = new Map()
  readonly days: Map<string, RecordedDay> = new Map()
  readonly #grainMs: number

  constructor(grainMs: number) {
    this.#grainMs = grainMs
  }

  add(record: UsageRecord): void {
    const { providerModel = record.model, startedAt, attempts = 1, basis, vendorCost } = record
    const { promptTokens: inputTokens, cachedTokens, completionTokens: outputTokens } = record
    const model = undated(providerModel)
    const counts = { requests: 1, inputTokens, cachedTokens, outputTokens }
    const period = held(this.periods, keyOf(model, floor(startedAt, this.#grainMs)), { cuts: 0, retries: 0 })
    add(period, counts)
    if (basis !== 'reported') period.cuts++
    period.retries += Math.max(0, attempts - 1)
    const day = held(this.days, `${dayOf(startedAt)} ${model}`, { cost: 0n, uncosted: 0 })
    add(day, counts)
    if (vendorCost === undefined) day.uncosted++
    else day.cost += vendorCost
  }
}

/** The periods that differ, and each model on each day. `chargeOf`: a charge of the report in billionths of the currency. */
export function compare(
  { periods, days }: Books,
  { usage, charges }: VendorReport,
  grainMs: number,
  value: Value,
  chargeOf: (cost: string) => bigint,
): { readonly findings: readonly Finding[]; readonly days: readonly ComparedDay[] } {
  const theirs = new Map<string, Sums>()
  for (const row of usage) add(held(theirs, keyOf(undated(row.model), floor(row.start, grainMs)), {}), row)
  const counted = usage.some(({ requests }) => requests !== undefined)
  const findings = findingsOf(periods, theirs, grainMs, counted)
  const bill = new Map<string, Sums & { cost: bigint }>()
  const billed = (key: string) => held(bill, key, { cost: 0n })
  for (const row of usage) add(billed(`${dayOf(row.start)} ${undated(row.model)}`), row)
  for (const { day, model, cost } of charges) billed(`${day} ${undated(model)}`).cost += chargeOf(cost)
  const tiers = Map.groupBy(usage, (row) => `${dayOf(row.start)} ${undated(row.model)}`)
  const found = Map.groupBy(findings, ({ at, model }) => `${dayOf(at)} ${model}`)
  const all = [...new Set([...days.keys(), ...bill.keys()])].sort()
  return {
    findings,
    days: all.map((key) => {
      const [day = '', ...rest] = key.split(' ')
      const model = rest.join(' ')
      const own = days.get(key) ?? { ...nothing, cost: 0n, uncosted: 0 }
      const { uncosted, ...ours } = own
      const other = bill.get(key) ?? { ...nothing, cost: 0n }
      const causes: Partial<Record<DifferenceCause, bigint>> = {}
      let left = other.cost - ours.cost
      const explain = (cause: DifferenceCause, amount: bigint) => {
        if (amount === 0n) return
        causes[cause] = (causes[cause] ?? 0n) + amount
        left -= amount
      }
      for (const finding of found.get(key) ?? [])
        if (finding.cause !== 'unexplained') explain(finding.cause, value(model, finding) ?? 0n)
      if (uncosted > 0) explain('price', left)
      else if (own.requests === 0 && value(model, nothing) === undefined) explain('other', left)
      else explain('tier', within(tierPart(model, tiers.get(key) ?? [], value), left))
      return { model, day, ours, theirs: other, causes, unexplained: left }
    }),
  }
}

/** The books have a part of it, or all, if the answers named the tier. */
function within(amount: bigint, left: bigint): bigint {
  if (amount > 0n === left < 0n) return 0n
  return amount > 0n === amount < left ? amount : left
}

/** What tokens cost more than in the usual tier. */
function tierPart(model: string, rows: readonly VendorUsage[], value: Value): bigint {
  return rows
    .filter(({ tier }) => tier !== undefined)
    .reduce((sum, row) => {
      const counts = { ...row, requests: 0 }
      return sum + (value(model, counts, row.tier) ?? 0n) - (value(model, counts) ?? 0n)
    }, 0n)
}

function findingsOf(
  ours: ReadonlyMap<string, Period>,
  theirs: ReadonlyMap<string, Counts>,
  grainMs: number,
  counted: boolean,
): Finding[] {
  const differing = new Map<string, Counts>()
  for (const key of new Set([...ours.keys(), ...theirs.keys()])) {
    const [left, right] = [ours.get(key) ?? nothing, theirs.get(key) ?? nothing]
    const less = Object.fromEntries(countNames.map((name) => [name, right[name] - left[name]])) as unknown as Counts
    const difference = counted ? less : { ...less, requests: 0 }
    if (countNames.some((name) => difference[name] !== 0)) differing.set(key, difference)
  }
  return [...differing].map(([key, counts]) => {
    const { model, at } = placeOf(key)
    const near = [at - grainMs, at + grainMs].some((time) => {
      const other = differing.get(keyOf(model, time))
      return other !== undefined && countNames.every((name) => other[name] === -counts[name])
    })
    return { ...counts, model, at, cause: near ? 'clock' : causeOf(counts, ours.get(key), counted) }
  })
}

function causeOf(counts: Counts, own: Period | undefined, counted: boolean): Finding['cause'] {
  const { requests, inputTokens, cachedTokens, outputTokens } = counts
  const { cuts = 0, retries = 0 } = own ?? {}
  if (requests === 0 && inputTokens === 0 && outputTokens === 0 && cachedTokens !== 0) return 'cache'
  const isMore = inputTokens >= 0 && outputTokens >= 0
  if (retries > 0 && isMore && (!counted || (requests > 0 && requests <= retries))) return 'retry'
  if (requests > 0 && isMore) return 'other'
  if (cuts > 0) return 'cut'
  return !counted && isMore ? 'other' : 'unexplained'
}

function held<T extends object>(map: Map<string, Sums & T>, key: string, more: T): Sums & T {
  let found = map.get(key)
  if (found === undefined) map.set(key, (found = { ...nothing, ...more }))
  return found
}

function add(sums: Sums, counts: Partial<Counts>): void {
  for (const name of countNames) sums[name] += counts[name] ?? 0
}

function floor(time: number, grainMs: number): number {
  return Math.floor(time / grainMs) * grainMs
}

function keyOf(model: string, at: number): string {
  return `${at} ${model}`
}

function placeOf(key: string): { readonly model: string; readonly at: number } {
  const [at = '', ...rest] = key.split(' ')
  return { at: Number(at), model: rest.join(' ') }
}

/** Batches of calls as columns, the parameters of `admit_calls` and `end_calls`. */
import type { AdmissionEnd, CapCharge, CapClaim, RateRule, SliceEnds } from '../index.ts'
import type { AdmissionItem } from '../batched-admission.ts'
import { bigintsAsText } from '../sql/sql.ts'

type Types = Readonly<Record<string, string>>

/** The columns of a batch of admissions. */
export const admissionTypes = {
  buckets: 'text[]',
  accounts: 'text[]',
  claims: 'text[]',
  claim_ms: 'float8[]',
  holds: 'text[]',
  hold_ms: 'float8[]',
  payers: 'int[]',
  amounts: 'bigint[]',
  rates: 'int[]',
  rate_bucket: 'int[]',
  costs: 'float8[]',
  per_ms: 'float8[]',
  bursts: 'float8[]',
  slots: 'int[]',
  slot_call: 'int[]',
  slot_bucket: 'int[]',
  places: 'int[]',
  tokens: 'bigint[]',
  caps: 'int[]',
  cap_call: 'int[]',
  cap_scope: 'int[]',
  cap_money: 'bigint[]',
  cap_tokens: 'bigint[]',
  cap_calls: 'bigint[]',
  scopes: 'jsonb',
  slice: 'text',
  slice_ms: 'float8',
  more: 'int',
} as const

/** The columns of a batch of endings. */
export const endingTypes = {
  buckets: 'text[]',
  accounts: 'text[]',
  slot_bucket: 'int[]',
  holders: 'text[]',
  rate_bucket: 'int[]',
  costs: 'float8[]',
  per_ms: 'float8[]',
  ids: 'text[]',
  payers: 'int[]',
  amounts: 'bigint[]',
  tokens: 'bigint[]',
  scopes: 'jsonb',
  charge_hold: 'int[]',
  charge_scope: 'int[]',
  carry_charge: 'int[]',
  carry_mark: 'int[]',
  marks: 'jsonb',
  levels: 'jsonb',
  draw_ids: 'text[]',
  draw_slice: 'int[]',
  draw_amount: 'bigint[]',
  draw_tokens: 'bigint[]',
  draw_ms: 'float8[]',
  draw_claim_ms: 'float8[]',
  slices: 'text[]',
  slice_of: 'int[]',
  slice_bucket: 'int[]',
  returned: 'text[]',
} as const

/**
 * Settings of the functions that take columns: their statements are planned once, and look up each entry of a column in an
 * index. By default, the planner overestimates the entries of a column and reads whole tables. It still reads a table whole that
 * was small when it was analysed, unless a condition on it names its rows: a join does not, nor does `NOT EXISTS`, which is one.
 * So they say `= ANY` of an array, too, and ask with a subquery of one value whether a row is missing.
 */
export const plannedOnce: string = `SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off`

/** PL/pgSQL after which the transaction does not wait for the disk. An assignment takes less than a statement. */
export const relaxing: string = `ignored := set_config('synchronous_commit', 'off', true);`

/**
 * PL/pgSQL that ends a statement which has waited for its locks so long that its caller has given up, before it does any work.
 * Otherwise, each statement that was abandoned would delay those after it.
 */
export const stillAwaited: string = `
      IF clock_timestamp() > statement_timestamp() + interval '1900 milliseconds' THEN
        RAISE 'the statement waited too long for its locks' USING ERRCODE = 'query_canceled';
      END IF;`

/** The declaration of the parameters of a function. */
export function parametersOf(types: Types): string {
  return Object.entries(types)
    .map((parameter) => parameter.join(' '))
    .join(', ')
}

/** The statement that calls such a function. `more`: further arguments. `json`: what has the columns, by default the first value. */
export function callOf(name: string, types: Types, more: string = '', json: string = '$1::jsonb'): string {
  const columns = Object.keys(types).map((column) => `x.${column}`)
  return `SELECT @.${name}(${columns.join(', ')}${more}) AS result FROM jsonb_to_record(${json}) x (${parametersOf(types)})`
}

/** Distinct names, numbered from 1. */
class Numbered {
  readonly names: string[] = []
  readonly #numbers = new Map<string, number>()

  of(name: string): number {
    let number = this.#numbers.get(name)
    if (number === undefined) this.#numbers.set(name, (number = this.names.push(name)))
    return number
  }
}

type Columns<T> = {
  readonly [column in keyof T]: T[column] extends 'text' | 'int' | 'float8' ? unknown : readonly unknown[]
}

function ratesOf(rules: readonly RateRule[], buckets: Numbered) {
  return {
    rate_bucket: rules.map(({ bucket }) => buckets.of(bucket)),
    costs: rules.map(({ cost }) => cost),
    per_ms: rules.map(({ limit, periodMs }) => limit / periodMs),
  }
}

/** The columns for `admit_calls`, as JSON. */
export function admissionColumns(calls: readonly AdmissionItem[]): string {
  const [buckets, accounts] = [new Numbered(), new Numbered()]
  const rules = calls.flatMap(({ claim }) => claim?.rates ?? [])
  const slots = calls.flatMap(({ claim }, index) => claim?.places.map((place) => ({ ...place, call: index + 1 })) ?? [])
  const columns: Columns<typeof admissionTypes> = {
    ...ratesOf(rules, buckets),
    bursts: rules.map(({ burst }) => burst),
    slot_call: slots.map(({ call }) => call),
    slot_bucket: slots.map(({ bucket }) => buckets.of(bucket)),
    places: slots.map(({ places }) => places),
    claims: calls.map(({ claim }) => claim?.id ?? ''),
    claim_ms: calls.map(({ claim }) => claim?.leaseMs ?? 0),
    rates: calls.map(({ claim }) => claim?.rates.length ?? 0),
    slots: calls.map(({ claim }) => claim?.places.length ?? 0),
    holds: calls.map(({ hold }) => hold?.id ?? ''),
    hold_ms: calls.map(({ hold }) => hold?.leaseMs ?? 0),
    payers: calls.map(({ hold }) => (hold === undefined ? 0 : accounts.of(hold.account))),
    amounts: calls.map(({ hold }) => String(hold?.amount ?? 0)),
    ...capsOf(calls),
    ...sliceOf(calls),
    buckets: buckets.names,
    accounts: accounts.names,
  }
  return JSON.stringify(columns)
}

/** The slice to draw with a call that is alone in its batch. */
function sliceOf([call, ...others]: readonly AdmissionItem[]) {
  const { id = '', ms = 0, calls = 0 } = (others.length === 0 ? call?.slice : undefined) ?? {}
  return { slice: id, slice_ms: ms, more: calls }
}

/** The claims of caps. `scopes` are the distinct ones apart from their limits. */
function capsOf(calls: readonly AdmissionItem[]) {
  const scopes = new Numbered()
  const claims = calls.flatMap(({ hold }, index) => hold?.caps?.map((claim) => ({ claim, call: index + 1 })) ?? [])
  const limits = (measure: keyof CapClaim['limits']) =>
    claims.map(({ claim }) => claim.limits[measure]?.toString() ?? null)
  return {
    tokens: calls.map(({ hold }) => String(hold?.tokens ?? 0)),
    caps: calls.map(({ hold }) => hold?.caps?.length ?? 0),
    cap_call: claims.map(({ call }) => call),
    cap_scope: claims.map(({ claim }) => scopes.of(JSON.stringify(scopeOf(claim)))),
    cap_money: limits('money'),
    cap_tokens: limits('tokens'),
    cap_calls: limits('calls'),
    scopes: scopes.names.map((scope) => JSON.parse(scope) as unknown),
  }
}

/** A cap and its periods, as the SQL functions expect them. */
export function scopeOf({ name, window: kind, periods }: CapClaim): object {
  return 'grainMs' in periods
    ? { name, kind, grain: periods.grainMs, rolling: periods.rollingMs }
    : { name, kind, rolling: 0, boundaries: periods.boundaries }
}

/** Where settlements count, and the thresholds that they carry. */
function chargesOf(ends: readonly NonNullable<AdmissionEnd['end']>[]) {
  const [caps, marks] = [new Numbered(), new Numbered()]
  const charges = ends.flatMap(({ caps: own = [] }, index) => own.map((charge) => ({ charge, hold: index + 1 })))
  const scopes = new Map(charges.map(({ charge }) => [keyOf(charge), charge]))
  const sorted = [...scopes.values()].sort(
    (left, right) => caps.of(capKey(left)) - caps.of(capKey(right)) || left.start - right.start,
  )
  const numbers = new Map(sorted.map((scope, index) => [keyOf(scope), index + 1]))
  const carried = charges.flatMap(({ charge }, index) =>
    (charge.thresholds ?? []).map((mark) => [index + 1, marks.of(JSON.stringify(mark, bigintsAsText))] as const),
  )
  return {
    scopes: sorted.map((scope) => ({
      name: scope.name,
      kind: scope.window,
      start: scope.start,
      rolling: scope.rollingMs,
      counts_until: scope.end + scope.rollingMs,
      cap: caps.of(capKey(scope)),
    })),
    charge_hold: charges.map(({ hold }) => hold),
    charge_scope: charges.map(({ charge }) => numbers.get(keyOf(charge))),
    carry_charge: carried.map(([charge]) => charge),
    carry_mark: carried.map(([, mark]) => mark),
    marks: marks.names.map((mark) => JSON.parse(mark) as unknown),
  }
}

function keyOf({ name, window, start, end, rollingMs }: CapCharge): string {
  return JSON.stringify([name, window, start, end, rollingMs])
}

function capKey({ name, window }: CapCharge): string {
  return JSON.stringify([name, window])
}

/** Calls that slices have admitted. All of a slice have the same places. */
function drawsOf(draws: SliceEnds['draws'], buckets: Numbered, accounts: Numbered) {
  const slices = new Numbered()
  const claims = new Map(draws.map(({ slice, claim }) => [slices.of(slice), claim]))
  const parts = [...claims].flatMap(([slice, { places }]) => places.map(({ bucket }) => ({ slice, bucket })))
  for (const { hold } of draws) accounts.of(hold.account)
  return {
    draw_ids: draws.map(({ hold }) => hold.id),
    draw_slice: draws.map(({ slice }) => slices.of(slice)),
    draw_amount: draws.map(({ hold }) => String(hold.amount)),
    draw_tokens: draws.map(({ hold }) => String(hold.tokens ?? 0)),
    draw_ms: draws.map(({ hold }) => hold.leaseMs),
    draw_claim_ms: draws.map(({ claim }) => claim.leaseMs),
    slice_of: parts.map(({ slice }) => slice),
    slice_bucket: parts.map(({ bucket }) => buckets.of(bucket)),
    slices: slices.names,
  }
}

/** The columns for `end_calls`, as JSON. */
export function endingColumns(endings: readonly AdmissionEnd[], { draws, returns: slices }: SliceEnds): string {
  const [buckets, accounts] = [new Numbered(), new Numbered()]
  const returns = [...endings.flatMap(({ returned }) => returned ?? []), ...slices]
  const slots = returns.flatMap(({ id, places }) => places.map((bucket) => ({ id, bucket })))
  const ends = endings.flatMap(({ end }) => end ?? [])
  const columns: Columns<typeof endingTypes> = {
    ...ratesOf(
      returns.flatMap(({ corrections }) => corrections),
      buckets,
    ),
    slot_bucket: slots.map(({ bucket }) => buckets.of(bucket)),
    holders: slots.map(({ id }) => id),
    ids: ends.map(({ id }) => id),
    payers: ends.map(({ account }) => accounts.of(account)),
    amounts: ends.map(({ amount }) => amount?.toString() ?? null),
    tokens: ends.map(({ tokens }) => String(tokens ?? 0)),
    ...chargesOf(ends),
    levels: ends.flatMap(({ balanceThresholds: marks }, index) => (marks?.length ? { hold: index + 1, marks } : [])),
    ...drawsOf(draws, buckets, accounts),
    returned: slices.map(({ id, account }) => {
      accounts.of(account)
      return id
    }),
    buckets: buckets.names,
    accounts: accounts.names,
  }
  return JSON.stringify(columns, bigintsAsText)
}

/** Admits and ends one call with the short functions of the schema. */
import { GatewayError } from '../../../src/errors.ts'
import { verdictAfter, type HoldVerdict, type LimitVerdict, type RateRule, type SettleVerdict } from '../index.ts'
import type { Admitting, Ending } from './columns.ts'
import type { Database } from './database.ts'

/** The result of `admit_call`. `room` is what rates, then slots had left before the call; the balance is text. */
interface AdmittedOne {
  readonly admitted: boolean
  readonly room: readonly number[] | null
  readonly balance: string | null
}

interface EndedOne {
  readonly charged: string
  readonly overage: string
}

/** The verdicts on an admission: `limits` if it has a claim, `hold` if it has a hold and the limits admit it. */
export interface Admitted {
  readonly limits?: LimitVerdict
  readonly hold?: HoldVerdict
}

// Every parameter is text, because not every client sends arrays in the same way.
const admitSql = `SELECT @.admit_call($1::text::text[], $2::text::float8[], $3::text::float8[], $4::text::float8[],
  $5::text::int[], $6::text, $7::text::float8, $8::text, $9::text, $10::text::bigint, $11::text::float8, $12::bool) AS result`
const endSql = `SELECT @.end_call($1::text::text[], $2::text::float8[], $3::text::float8[], $4::text, $5::text, $6::text,
  $7::text::bigint) AS result`

/** Admits a call. Resolves to undefined, with nothing changed, if it takes the function for batches to decide. */
export async function admitOne(
  database: Database,
  { claim, hold }: Admitting,
  durable: boolean,
): Promise<Admitted | undefined> {
  const rates = claim?.rates ?? []
  const slots = claim?.places ?? []
  const buckets = [...rates.map(bucketOf), ...slots.map(bucketOf)]
  const names = [...buckets, claim?.id ?? '', hold?.id ?? '', hold?.account ?? '']
  if ((hold?.caps?.length ?? 0) > 0 || !names.every(isStorable)) return undefined
  const result = await undoable<AdmittedOne>(database, admitSql, [
    namesOf(buckets),
    ...ratesOf(rates),
    arrayOf(rates.map(({ burst }) => burst)),
    slots.length === 0 ? '{}' : arrayOf([...rates.map(() => 'NULL' as const), ...slots.map(({ places }) => places)]),
    claim?.id ?? null,
    String(claim?.leaseMs ?? 0),
    hold?.id ?? null,
    hold?.account ?? null,
    String(hold?.amount ?? 0),
    String(hold?.leaseMs ?? 0),
    durable,
  ])
  if (!result) return undefined
  const room = result.room ?? []
  const before = { admitted: result.admitted, left: room.slice(0, rates.length), free: room.slice(rates.length) }
  return {
    ...(claim && { limits: verdictAfter(claim, before) }),
    ...(hold && result.admitted && { hold: { outcome: 'held', balance: BigInt(result.balance ?? 0) } }),
  }
}

/** The verdict on the end of a hold; without a hold, undefined. */
export interface Ended {
  readonly verdict: SettleVerdict | undefined
}

/** Ends a call. Resolves to undefined, with nothing changed, if it takes the function for batches. */
export async function endOne(database: Database, { returned, end }: Ending): Promise<Ended | undefined> {
  const rates = returned?.corrections ?? []
  const buckets = [...rates.map(bucketOf), ...(returned?.places ?? [])]
  const names = [...buckets, returned?.id ?? '', end?.id ?? '', end?.account ?? '']
  const isNoted = (end?.caps?.length ?? 0) + (end?.balanceMarks?.length ?? 0) > 0
  if (isNoted || !names.every(isStorable)) return undefined
  const result = await undoable<EndedOne>(database, endSql, [
    namesOf(buckets),
    ...ratesOf(rates),
    returned?.id ?? null,
    end?.id ?? null,
    end?.account ?? null,
    end?.amount === undefined ? null : String(end.amount),
  ])
  if (!result) return undefined
  if (end === undefined) return { verdict: undefined }
  return { verdict: { outcome: 'settled', charged: BigInt(result.charged), overage: BigInt(result.overage) } }
}

/** The result of a function, or undefined if the database undid it because of a value or a constraint. */
async function undoable<Result>(
  database: Database,
  sql: string,
  values: unknown[],
): Promise<Result | null | undefined> {
  try {
    return await database.result<Result | null>(sql, values)
  } catch (error) {
    if (isUndone(error)) return undefined
    throw error
  }
}

/** Whether the database undid a statement because of one of its values: not storable, or against a constraint. */
export function isUndone(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return GatewayError.is(error) || (typeof code === 'string' && code.startsWith('23'))
}

/** Clients replace lone surrogates, which would make one name of two. */
function isStorable(name: string): boolean {
  return name.isWellFormed()
}

function bucketOf({ bucket }: { readonly bucket: string }): string {
  return bucket
}

function ratesOf(rates: readonly RateRule[]): [costs: string, perMs: string] {
  return [arrayOf(rates.map(({ cost }) => cost)), arrayOf(rates.map(({ limit, periodMs }) => limit / periodMs))]
}

/** An array of numbers as Postgres reads it. */
function arrayOf(entries: readonly (number | 'NULL')[]): string {
  return `{${entries.join(',')}}`
}

/** An array of names as Postgres reads it. */
function namesOf(names: readonly string[]): string {
  return `{${names.map((name) => `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')}}`
}

/** The conditions of usage filters. */
import { readCursor, type UsageFilter, type UsageQuestion } from '../index.ts'
import type { Dialect, Values } from './sql.ts'

export type UsageSelection = UsageFilter & { readonly after?: string } & Pick<UsageQuestion, 'only'>

/** The values of the conditions. */
export function filterValues({ after, only, ...filter }: UsageSelection): Values {
  const [at, last] = after === undefined ? [] : readCursor(after)
  return { ...filter, at, last, only: only && JSON.stringify(only.values) }
}

/** Conditions on labels `l`. */
export function ownerConditions({ has, among, each }: Dialect, filter: UsageSelection): string[] {
  const { only, tag } = filter
  return [
    ...equalTo(filter, ['account', 'key', 'model', 'user'], 'l.'),
    ...(tag === undefined ? [] : [`l.tags IS NOT NULL AND ${has('l.tags', ':tag')}`]),
    ...(only === undefined ? [] : [among(`l."${only.dimension}"`, each(':only'))]),
  ]
}

/** Conditions on requests. `IS NOT NULL` allows an index of the few requests with an outcome or code. */
export function callConditions({ session, outcome, code }: UsageFilter): string[] {
  const isOutcome = outcome === 'completed' ? ['outcome IS NULL'] : ['outcome = :outcome', 'outcome IS NOT NULL']
  return [
    ...(session === undefined ? [] : ['session = :session']),
    ...(outcome === undefined ? [] : isOutcome),
    ...(code === undefined ? [] : ['code = :code', 'code IS NOT NULL']),
  ]
}

/** Conditions on records of refused requests, of which an index leads to all but the tag. */
export function refusedConditions(filter: UsageFilter): string[] {
  return equalTo(filter, ['account', 'key', 'model', 'user', 'session', 'code'])
}

/** Conditions on the time of records, and on their place after a cursor. */
export function timeConditions({ after, ...range }: UsageSelection): string[] {
  return [
    ...rangeConditions(range),
    ...(after === undefined ? [] : ['started_at <= :at', '(started_at < :at OR id < :last)']),
  ]
}

/** Conditions on the time of records, as far as the range has ends. `place`: what follows the names of their values. */
export function rangeConditions(
  { from = -Infinity, to = Infinity }: { readonly from?: number; readonly to?: number },
  place: number | '' = '',
): string[] {
  return [
    ...(Number.isFinite(from) ? [`started_at >= :from${place}`] : []),
    ...(Number.isFinite(to) ? [`started_at < :to${place}`] : []),
  ]
}

function equalTo(filter: UsageFilter, names: readonly (keyof UsageFilter)[], of = ''): string[] {
  return names.filter((name) => filter[name] !== undefined).map((name) => `${of}"${name}" = :${name}`)
}

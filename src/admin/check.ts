import * as z from 'zod'
import { invalid } from '../errors.ts'
import { keyChangeShape, newKeyShape } from '../callers/key-fields.ts'
import { breachOf, strict } from '../records/rules.ts'
import {
  accountShape,
  apiKey,
  auditFilter,
  capOverride,
  capSubject,
  dimensions,
  id,
  invoicePeriod,
  keySearch,
  largest,
  lasting,
  latencyQuestion,
  listFilter,
  month,
  overlapMs,
  page,
  payment,
  prefix,
  refund,
  seriesQuestion,
  text,
  time,
  usageSums,
  videoFilter,
} from './questions.ts'

const none = z.undefined().optional()
const costs = z.boolean().optional()
const ofAll = z.literal(true)
/** One account, or explicitly all. */
const ofAny = { account: id.optional(), all: ofAll.optional() }

function period(owner: z.ZodRawShape): z.ZodType {
  const { timeZone } = invoicePeriod
  return z.union(
    [
      strict({ ...owner, from: time, to: time, month: none, timeZone: none }),
      strict({ ...owner, month, timeZone, from: none, to: none }),
    ],
    'needs "from" and "to" in milliseconds since the epoch, or "month", such as \'2030-04\', and its "timeZone"',
  )
}

type RuleName =
  | 'id'
  | 'refund'
  | 'compaction'
  | 'instant'
  | 'invoice'
  | 'invoiceOfAll'
  | 'text'
  | 'page'
  | 'accountList'
  | 'account'
  | 'payment'
  | 'key'
  | 'keyChange'
  | 'keySearch'
  | 'keyRotation'
  | 'vendorKey'
  | 'capSubject'
  | 'capOverride'
  | 'capClearing'
  | 'usageList'
  | 'usageListOfAll'
  | 'usageSums'
  | 'usageSumsOfAll'
  | 'usageSeries'
  | 'usageLatency'
  | 'videoList'
  | 'alertList'
  | 'auditList'
  | 'auditHead'
  | 'actor'

export const rules: Readonly<Record<RuleName, z.ZodType>> = {
  id,
  instant: time,
  invoice: period({ account: id }),
  invoiceOfAll: period({ account: none, all: ofAll }),
  text,
  page: strict(page),
  accountList: strict({ ...page, prefix }),
  account: strict({ id, ...accountShape }),
  payment: strict({ account: id, ...payment }),
  compaction: z.union(
    [strict({ account: id, all: none, before: time }), strict({ account: none, all: ofAll, before: time })],
    'needs "before", and either "account" or "all: true"',
  ),
  refund: strict({ account: id, ...refund }),
  key: strict({
    account: id,
    open: z.boolean().optional(),
    group: z.string(),
    ...newKeyShape,
    lifeMs: lasting(1).optional(),
  }),
  keyChange: strict({ group: z.string().optional(), ...keyChangeShape }),
  keySearch: strict({ ...page, ...keySearch }),
  keyRotation: strict({ overlapMs }),
  vendorKey: strict({ account: id, provider: id, apiKey }),
  capSubject: strict({ account: id, ...capSubject }),
  capOverride: strict({ account: id, cap: text, ...capOverride }),
  capClearing: strict({ account: id, cap: text, ...capSubject }),
  usageList: strict({ account: id, all: none, ...listFilter, ...page, costs }),
  usageListOfAll: strict({ account: none, all: ofAll, ...listFilter, ...page, costs }),
  usageSums: strict({ account: id, all: none, ...usageSums, by: dimensions, largest, costs }),
  usageSumsOfAll: strict({ account: none, all: ofAll, ...usageSums, by: dimensions, largest, costs }),
  usageSeries: strict({ ...ofAny, ...seriesQuestion }),
  usageLatency: strict({ ...ofAny, ...latencyQuestion }),
  alertList: strict({ ...ofAny, ...page }),
  auditList: strict({ ...auditFilter, ...page }),
  auditHead: strict({ number: z.int().min(0), hash: z.string() }).optional(),
  actor: strict({ name: id.optional(), address: z.string().max(128).optional() }),
  videoList: strict({ ...ofAny, ...videoFilter, ...page }),
}

/** Throws a 400 that names the invalid field. `name` is the name of the value itself. */
export function requireValid(rule: z.ZodType, value: unknown, name = ''): void {
  const breach = breachOf(rule, value)
  if (breach === undefined) return
  const path = [name, breach.path].filter((part) => part !== '').join('.')
  throw invalid(path === '' ? `Invalid argument: ${breach.message}` : `"${path}": ${breach.message}`, path)
}

/** Throws a 400 unless the value is a valid id. */
export function requireId(value: unknown, name: string): void {
  requireValid(rules.id, value, name)
}

/** The store, if it implements an optional method. Throws a 400 otherwise. */
export function requireMethod<S extends object, M extends keyof S>(
  store: S,
  method: M,
  what: string,
): Required<Pick<S, M>> {
  if (store[method] === undefined) throw invalid(`This store does not support listing or changing ${what}.`)
  return store as Required<Pick<S, M>>
}

import * as z from 'zod'
import { invalid } from '../errors.ts'
import { isTimeZone } from '../records/calendar.ts'
import { breachOf, instant, strict } from '../records/rules.ts'
import { capLimits, caps } from '../records/cap-rules.ts'
import { rate } from '../records/rate-rules.ts'
import { addresses, models, tags, user } from '../callers/key-rules.ts'
import { isStorable } from '../records/storable-text.ts'

const id = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters')

/** A text that every store can keep. `longest`: in UTF-16 code units. */
function storable(longest = 512): z.ZodType {
  return z.custom(
    (value) => isStorable(value, longest),
    `must be a string of at most ${longest} characters, without NUL or unpaired surrogates`,
  )
}

const page = {
  limit: z.int().min(1).max(1_000).optional(),
  after: storable().optional(),
}

/** The outcomes that sums count. */
const outcomes = ['completed', 'failed', 'cancelled'] as const
/** Those of lists. */
const listed = { outcome: z.enum([...outcomes, 'refused']).optional() }

const scope = {
  account: id,
  all: z.literal(true).optional(),
  key: storable().optional(),
  model: storable().optional(),
  user: storable().optional(),
  tag: storable().optional(),
  session: storable().optional(),
  outcome: z.enum(outcomes).optional(),
  code: storable().optional(),
  from: instant.optional(),
  to: instant.optional(),
}

const timeZone = z.string().refine(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin')

const dimensions = z.enum(['day', 'period', 'account', 'group', 'key', 'model', 'endpoint', 'user', 'tag', 'session'])

const measure = z.enum(['cost', 'requests', 'tokens'])

const sums = {
  by: z.array(dimensions),
  offsetMinutes: z.int().min(-1_440).max(1_440).optional(),
  periodMs: z
    .int()
    .min(60_000)
    .max(366 * 86_400_000)
    .optional(),
  timeZone: timeZone.optional(),
  largest: strict({ most: z.int().min(1), measure }).optional(),
}

function period(owner: z.ZodRawShape): z.ZodType {
  const none = z.undefined().optional()
  const month = z.string().regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, "must be a month, such as '2030-04'")
  return z.union(
    [
      strict({ ...owner, from: instant, to: instant, month: none, timeZone: none }),
      strict({ ...owner, month, timeZone: timeZone.optional(), from: none, to: none }),
    ],
    'needs "from" and "to" in milliseconds since the epoch, or "month", such as \'2030-04\', and its "timeZone"',
  )
}

const capSubject = {
  account: id,
  key: storable().optional(),
  group: z.string().optional(),
  user: user.optional(),
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

export const rules: Readonly<Record<RuleName, z.ZodType>> = {
  id,
  instant,
  invoice: period({ account: id }),
  invoiceOfAll: period({ account: z.undefined().optional(), all: z.literal(true) }),
  text: storable(),
  page: strict(page),
  accountList: strict({ ...page, prefix: z.union([z.literal(''), id]).optional() }),
  account: strict({ id, name: storable().optional(), unlimited: z.boolean().optional() }),
  /** `parseMoney` validates the amount. */
  payment: strict({ account: id, amount: z.unknown(), reference: id, note: storable(4_096).optional() }),
  compaction: z.union(
    [
      strict({ account: id, all: z.undefined().optional(), before: instant }),
      strict({ account: z.undefined().optional(), all: z.literal(true), before: instant }),
    ],
    'needs "before", and either "account" or "all: true"',
  ),
  refund: strict({
    account: id,
    request: id,
    amount: z.unknown().optional(),
    reason: storable(4_096).refine((value) => value !== '', 'must say why'),
  }),
  key: strict({
    account: id,
    open: z.boolean().optional(),
    group: z.string(),
    name: storable().optional(),
    user: user.optional(),
    tags: tags.optional(),
    expiresAt: instant.optional(),
    lifeMs: z
      .int()
      .min(1)
      .max(366 * 86_400_000)
      .optional(),
    rate: rate.optional(),
    caps: caps.optional(),
    models: models.optional(),
    addresses: addresses.optional(),
  }),
  keyChange: strict({
    group: z.string().optional(),
    name: storable().nullish(),
    user: user.nullish(),
    tags: tags.nullish(),
    expiresAt: instant.nullish(),
    rate: rate.nullish(),
    caps: caps.nullish(),
    models: models.nullish(),
    addresses: addresses.nullish(),
  }),
  keySearch: strict({
    ...page,
    account: id.optional(),
    group: storable().optional(),
    user: storable().optional(),
    tag: storable().optional(),
    text: storable().optional(),
    state: z.enum(['active', 'expired', 'revoked']).optional(),
  }),
  keyRotation: strict({
    overlapMs: z
      .int()
      .min(0)
      .max(366 * 86_400_000)
      .optional(),
  }),
  capSubject: strict(capSubject),
  capOverride: strict({ ...capSubject, cap: storable(), limits: capLimits, until: instant.optional() }),
  capClearing: strict({ ...capSubject, cap: storable() }),
  usageList: strict({ ...scope, ...listed, ...page }),
  usageListOfAll: strict({ ...scope, ...listed, account: z.undefined().optional(), ...page }),
  usageSums: strict({ ...scope, ...sums }),
  usageSumsOfAll: strict({ ...scope, account: z.undefined().optional(), ...sums }),
  usageSeries: strict({
    ...scope,
    account: id.optional(),
    from: instant,
    to: instant,
    period: z.enum(['minute', 'quarter', 'hour', 'day']),
    timeZone: timeZone.optional(),
    by: z.enum(['account', 'group', 'key', 'model', 'endpoint', 'user']).optional(),
    top: z.int().min(1).max(20).optional(),
    measure: measure.optional(),
  }),
  usageLatency: strict({
    ...scope,
    account: id.optional(),
    outcome: z.undefined().optional(),
    code: z.undefined().optional(),
    from: instant,
    to: instant,
    periods: z.int().min(1).max(60).optional(),
  }),
  alertList: strict({ ...page, account: id.optional(), all: z.literal(true).optional() }),
  videoList: strict({
    ...page,
    account: id.optional(),
    all: z.literal(true).optional(),
    state: z.enum(['pending', 'processing', 'completed', 'failed']).optional(),
    model: storable().optional(),
  }),
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

import * as z from 'zod'
import { invalid } from '../errors.ts'
import { breachOf, instant, strict } from '../validation/rules.ts'
import { rate } from '../limits/rate-rules.ts'
import { isStorable } from '../store-access/text.ts'

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

const scope = {
  account: id,
  all: z.literal(true).optional(),
  key: storable().optional(),
  model: storable().optional(),
  from: instant.optional(),
  to: instant.optional(),
}

const dimensions = z.enum(['day', 'account', 'group', 'key', 'model', 'endpoint'])

const sums = { by: z.array(dimensions), offsetMinutes: z.int().min(-1_440).max(1_440).optional() }

type RuleName =
  | 'id'
  | 'text'
  | 'page'
  | 'account'
  | 'payment'
  | 'key'
  | 'keyChange'
  | 'usageList'
  | 'usageListOfAll'
  | 'usageSums'
  | 'usageSumsOfAll'

export const rules: Readonly<Record<RuleName, z.ZodType>> = {
  id,
  text: storable(),
  page: strict(page),
  account: strict({ id, name: storable().optional(), unlimited: z.boolean().optional() }),
  /** `parseMoney` validates the amount. */
  payment: strict({ account: id, amount: z.unknown(), reference: id, note: storable(4_096).optional() }),
  key: strict({
    account: id,
    group: z.string(),
    name: storable().optional(),
    expiresAt: instant.optional(),
    rate: rate.optional(),
  }),
  keyChange: strict({
    group: z.string().optional(),
    name: storable().nullish(),
    expiresAt: instant.nullish(),
    rate: rate.nullish(),
  }),
  usageList: strict({ ...scope, ...page }),
  usageListOfAll: strict({ ...scope, account: z.undefined().optional(), ...page }),
  usageSums: strict({ ...scope, ...sums }),
  usageSumsOfAll: strict({ ...scope, account: z.undefined().optional(), ...sums }),
}

/** Throws a 400 that names the invalid field. `name` is the name of the value itself. */
export function requireValid(rule: z.ZodType, value: unknown, name = ''): void {
  const breach = breachOf(rule, value)
  if (breach === undefined) return
  const path = [name, breach.path].filter((part) => part !== '').join('.')
  throw invalid(path === '' ? `Invalid argument: ${breach.message}` : `"${path}": ${breach.message}`, path)
}

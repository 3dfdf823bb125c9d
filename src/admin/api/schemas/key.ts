import * as z from 'zod'
import type { KeyChange, KeyRequest } from '../../keys.ts'
import { count, fieldsOf, id, money, text, time } from './values.ts'

const frequency = z.union([
  z.string().max(40),
  z.strictObject({ limit: count, periodMs: count, burst: count.optional() }),
])

const rate = z
  .strictObject({ requests: frequency.optional(), tokens: frequency.optional(), concurrent: z.int().min(1).optional() })
  .describe('Limits in addition to those of the group, such as `{ "requests": "60/min" }`.')

const limit = z.int().min(0).nullish()

/** The limits of a cap; null removes one. */
export const capLimits: z.ZodType = z.strictObject({ money: money.nullish(), tokens: limit, calls: limit })

const cap = z.strictObject({
  name: z.string().max(64),
  period: z.union([
    z.enum(['day', 'week', 'month']),
    z.strictObject({ rollingMs: z.int(), grainMs: z.int().optional() }),
  ]),
  timeZone: z.string().max(64).optional(),
  weekStart: z.enum(['monday', 'sunday']).optional(),
  money: money.nullish(),
  tokens: limit,
  calls: limit,
  thresholds: z.array(z.number()).max(10).optional().describe('Percentages at which an alert is sent.'),
})

const models = z
  .array(z.string().max(256))
  .max(1_000)
  .describe('Names, each of which may end in `*`. Default: all of the group.')
const addresses = z.array(z.string().max(64)).max(1_000).describe('IP addresses and CIDR ranges. Default: all.')
const tags = z.array(z.string().max(64)).max(10)
const caps = z.array(cap).max(10)
const expiresAt = time.describe('Milliseconds since the epoch. Default: never.')

/** A new key, whose account is in the path. */
export type NewKey = Omit<KeyRequest, 'account' | 'lifeMs'>

/** The fields of a new key. */
export const newKey: z.ZodType<NewKey> = fieldsOf<NewKey>({
  open: z
    .boolean()
    .optional()
    .describe('Opens the account if there is none. Default: that of the role "account" is opened, any other is a 404.'),
  group: text.describe('One of those of `GET /groups`.'),
  name: text.optional(),
  user: z.string().min(1).max(256).optional(),
  tags: tags.optional(),
  expiresAt: expiresAt.optional(),
  rate: rate.optional(),
  caps: caps.optional(),
  models: models.optional(),
  addresses: addresses.optional(),
})

/** A change of a key. Null removes a field. */
export const keyChange: z.ZodType<KeyChange> = fieldsOf<KeyChange>({
  group: text.optional(),
  name: text.nullish(),
  user: z.string().min(1).max(256).nullish(),
  tags: tags.nullish(),
  expiresAt: expiresAt.nullish(),
  rate: rate.nullish(),
  caps: caps.nullish(),
  models: models.nullish(),
  addresses: addresses.nullish(),
})

/** A key as it is listed. */
export const key: z.ZodObject = z.object({
  id,
  prefix: z.string().describe('The first characters of the key.'),
  account: id,
  group: text,
  name: text.optional(),
  user: z.string().optional(),
  tags: tags.optional(),
  createdAt: time,
  expiresAt: expiresAt.optional(),
  rate: rate.optional(),
  caps: caps.optional(),
  models: models.optional(),
  addresses: addresses.optional(),
  continues: id.optional().describe('The key that this one replaces.'),
  revokedAt: time.optional(),
  source: z
    .literal('options')
    .optional()
    .describe('`options`: the key is part of the options of the gateway, and can only be changed and removed there.'),
})

/** A key that was just created: the only response with the key itself. */
export const createdKey: z.ZodObject = z.object({
  key: z.string().describe('The key. Shown once: it cannot be read again.'),
  record: key,
})

/** A key that replaces another. */
export const rotatedKey: z.ZodObject = createdKey.extend({
  replaced: key.describe('The old key, with the time at which it expires.'),
})

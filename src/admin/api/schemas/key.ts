import * as z from 'zod'
import { keyChangeShape, newKeyShape } from '../../../callers/key-fields.ts'
import type { KeyChange, KeyRequest } from '../../keys.ts'
import { strict } from '../../../records/rules.ts'
import { id, text, time } from '../../questions.ts'

/** A new key, whose account is in the path. */
export type NewKey = Omit<KeyRequest, 'account' | 'lifeMs'>

const group = text.describe('One of those of `GET /groups`.')

/** The fields of a new key. */
export const newKey = strict({
  open: z
    .boolean()
    .optional()
    .describe('Opens the account if there is none. Default: that of the role "account" is opened, any other is a 404.'),
  group,
  ...newKeyShape,
}) as unknown as z.ZodType<NewKey>

/** A change of a key. Null removes a field. */
export const keyChange = strict({ group: group.optional(), ...keyChangeShape }) as unknown as z.ZodType<KeyChange>

/** A key as it is listed. */
export const key: z.ZodObject = z.object({
  id,
  prefix: z.string().describe('The first characters of the key.'),
  account: id,
  group: text,
  ...newKeyShape,
  createdAt: time,
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

/** What is chosen of an API key. A new field is a line of `KeyProperties` and one of `keyFields`. */
import * as z from 'zod'
import type { Cap } from '../records/cap.ts'
import { caps } from '../records/cap-rules.ts'
import type { Rate } from '../records/rate.ts'
import { rate } from '../records/rate-rules.ts'
import { picked } from '../records/picked.ts'
import { instant, storable } from '../records/rules.ts'
import { addresses, models, tags, user } from './key-rules.ts'

/** The fields of a key that its creator may set. */
export interface KeyProperties {
  /** A label chosen by the owner. */
  readonly name?: string
  /** What the owner wants to remember of the key: at most 500 characters. */
  readonly note?: string
  /** The person who uses the key. Takes precedence over users that requests name. Default: requests name their user. */
  readonly user?: string
  /** Words by which usage of the key is filtered and summed: at most 10, each of at most 64 characters. */
  readonly tags?: readonly string[]
  /** The models that the key may use, of those of its group: names, each of which may end in `*`. Default: all. */
  readonly models?: readonly string[]
  /**
   * The IP addresses and CIDR ranges from which the key may be used. Requests whose address the host does not know are
   * rejected. Default: all addresses.
   */
  readonly addresses?: readonly string[]
  /** Milliseconds since the epoch. From this moment the key is rejected. Default: never. */
  readonly expiresAt?: number
  /** Limits of this key, in addition to those of its group. */
  readonly rate?: Rate
  /** Limits of what the key uses in a period, in addition to those of its group. Requires `billing`. */
  readonly caps?: readonly Cap[]
}

interface KeyField {
  /** With what the OpenAPI document says of it. */
  readonly rule: z.ZodType
  /** Found by its text. */
  readonly searched?: true
  /** Removed when a person is erased. */
  readonly personal?: true
  /** A column of CSV files; `time`: as a date. */
  readonly exported?: true | 'time'
}

export const keyFields: Readonly<Record<keyof KeyProperties, KeyField>> = {
  name: { rule: storable(), searched: true, personal: true, exported: true },
  note: { rule: storable(500), searched: true, personal: true, exported: true },
  user: { rule: user, searched: true, personal: true, exported: true },
  tags: { rule: tags, personal: true, exported: true },
  models: { rule: models.describe('Names, each of which may end in `*`. Default: all of the group.'), exported: true },
  addresses: {
    rule: addresses.describe('IP addresses and CIDR ranges. Default: all.'),
    personal: true,
    exported: true,
  },
  expiresAt: { rule: instant.describe('Milliseconds since the epoch. Default: never.'), exported: 'time' },
  rate: { rule: rate.describe('Limits in addition to those of the group, such as `{ "requests": "60/min" }`.') },
  caps: { rule: caps },
}

/** The names of the fields with a property. */
export function keyFieldsWith(has: Exclude<keyof KeyField, 'rule'>): readonly (keyof KeyProperties)[] {
  return keyNames.filter((name) => keyFields[name][has] !== undefined)
}

export const keyNames = Object.keys(keyFields) as readonly (keyof KeyProperties)[]

/** The fields of a key of which `search` compares the text. */
export const keySearched: readonly string[] = ['id', 'prefix', 'account', ...keyFieldsWith('searched')]

/** The rules of a new key. Each field may be absent. */
export const newKeyShape: Readonly<Record<keyof KeyProperties, z.ZodOptional>> = shapeOf((rule) => rule.optional())

/** The rules of a change. Null removes a field. */
export const keyChangeShape: Readonly<Record<keyof KeyProperties, z.ZodOptional>> = shapeOf((rule) => rule.nullish())

function shapeOf(of: (rule: z.ZodType) => z.ZodOptional): Record<keyof KeyProperties, z.ZodOptional> {
  return Object.fromEntries(keyNames.map((name) => [name, of(keyFields[name].rule)])) as never
}

/** What was chosen of a key, without what is absent. */
export function chosenOf(properties: KeyProperties): KeyProperties {
  return picked(properties, keyNames)
}

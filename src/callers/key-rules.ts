import * as z from 'zod'
import { addressForm, isRange } from './addresses.ts'
import { isModels, isName, isTags, longestUser, modelsForm, tagsForm } from './users-and-tags.ts'

/** The person who uses a key. An account has the same form. */
export const user: z.ZodType<string> = z
  .custom<string>(
    (value) => isName(value, longestUser),
    `must be a string of 1 to ${longestUser} characters, without NUL or unpaired surrogates`,
  )
  .meta({ type: 'string', minLength: 1, maxLength: longestUser })

/** The tags of a key. */
export const tags: z.ZodType = z
  .custom(isTags, `must be an array of strings: ${tagsForm}`)
  .meta({ type: 'array', items: { type: 'string', maxLength: 64 }, maxItems: 10 })

/** The models that a key may use. */
export const models: z.ZodType = z
  .custom(isModels, `must be ${modelsForm}`)
  .meta({ type: 'array', items: { type: 'string', maxLength: 512 }, maxItems: 1_000 })

/** The addresses from which a key may be used. */
export const addresses: z.ZodType = z
  .array(
    z
      .custom(isRange, `must be ${addressForm}, with all bits behind the prefix zero`)
      .meta({ type: 'string', maxLength: 64 }),
  )
  .max(1_000)

import * as z from 'zod'
import { addressForm, isRange } from './addresses.ts'
import { isModels, isName, isTags, longestUser, modelsForm, tagsForm } from './users-and-tags.ts'

/** The person who uses a key. */
export const user: z.ZodType = z.custom(
  (value) => isName(value, longestUser),
  `must be a string of 1 to ${longestUser} characters, without NUL or unpaired surrogates`,
)

/** The tags of a key. */
export const tags: z.ZodType = z.custom(isTags, `must be an array of strings: ${tagsForm}`)

/** The models that a key may use. */
export const models: z.ZodType = z.custom(isModels, `must be ${modelsForm}`)

/** The addresses from which a key may be used. */
export const addresses: z.ZodType = z
  .array(z.custom(isRange, `must be ${addressForm}, with all bits behind the prefix zero`))
  .max(1_000)

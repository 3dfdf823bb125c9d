/** Values that many routes take or return. */
import * as z from 'zod'
import type { PageRequest } from '../../../records/page.ts'

/** A schema for each field of a type, so that the compiler finds one that is missing. */
export type Shape<T> = { readonly [Name in keyof Required<T>]: z.ZodType<T[Name]> }

/** An object with exactly these fields. */
export function fieldsOf<T>(shape: { readonly [Name in keyof Required<T>]: z.ZodType }): z.ZodType<T> {
  return z.strictObject(shape) as unknown as z.ZodType<T>
}

/** Milliseconds since the epoch. */
export const time: z.ZodNumber = z.int().min(0).describe('Milliseconds since the epoch.')
/** An amount of money, never a floating-point number. */
export const money: z.ZodString = z.string().max(40).describe('A decimal string in the currency of the gateway.')
/** The id of an account, key or request. */
export const id: z.ZodString = z.string().min(1).max(128)
/** A text that is compared or stored. */
export const text: z.ZodString = z.string().max(512)
/** A count. */
export const count: z.ZodNumber = z.number().min(0)

/** The query parameters that select a page of a list. */
export const page: Shape<PageRequest> = {
  limit: z.int().min(1).max(1_000).optional().describe('Maximum number of items. Default 100.'),
  after: text.optional().describe('`next` of the previous page.'),
}

/** A page of a list. */
export function pageOf(item: z.ZodType): z.ZodObject {
  return z.object({
    items: z.array(item),
    next: z.string().optional().describe('Pass as `after` to get the next page. Absent on the last page.'),
  })
}

/** A list without pages. */
export function listOf(item: z.ZodType): z.ZodObject {
  return z.object({ items: z.array(item) })
}

/** The body of every error. */
export const errorBody: z.ZodObject = z.object({
  error: z.object({
    message: z.string().describe('What to change.'),
    type: z.string(),
    param: z.string().nullable().describe('The invalid parameter or field.'),
    code: z.string().describe('A stable code, such as `invalid_request_error`.'),
  }),
})

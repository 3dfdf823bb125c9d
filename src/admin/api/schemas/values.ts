/** Values that many routes take or return. */
import * as z from 'zod'

/** An amount of money, never a floating-point number. */
export const money: z.ZodString = z.string().max(40).describe('A decimal string in the currency of the gateway.')
/** A count. */
export const count: z.ZodNumber = z.number().min(0)

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

const names = new WeakMap<z.core.$ZodType, string>()

/** The schema, which has a name of its own in the OpenAPI document. */
export function component<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  names.set(schema, name)
  return schema
}

export function componentName(schema: z.core.$ZodType): string | undefined {
  return names.get(schema)
}

/** The body of every error. */
export const errorBody: z.ZodObject = component(
  'Error',
  z.object({
    error: z.object({
      message: z.string().describe('What to change.'),
      type: z.string(),
      param: z.string().nullable().describe('The invalid parameter or field.'),
      code: z.string().describe('A stable code, such as `invalid_request_error`.'),
    }),
  }),
)

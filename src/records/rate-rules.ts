/** The rules that rates in the options are checked by. */
import * as z from 'zod'
import { parsed, strict } from './rules.ts'
import { parseFrequency } from './rate.ts'

export const frequency: z.ZodType = parsed(parseFrequency).meta({
  anyOf: [
    { type: 'string', maxLength: 40 },
    {
      type: 'object',
      properties: { limit: { type: 'number' }, periodMs: { type: 'number' }, burst: { type: 'number' } },
      required: ['limit', 'periodMs'],
      additionalProperties: false,
    },
  ],
})

const rates = { requests: frequency, tokens: frequency, concurrent: z.int().min(1) }

export const rate: z.ZodType = strict(rates).partial()

export const scopedRate: z.ZodType = strict({ ...rates, per: z.enum(['account', 'key', 'all']) }).partial()

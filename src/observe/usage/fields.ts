/** The fields of usage records. A new field is a line of `UsageRecord`, one of `usageFields`, and what sets it in receipts. */
import * as z from 'zod'
import { instant } from '../../records/rules.ts'
import type { UsageRecord } from './contract.ts'
import { eachUnit, units } from './units.ts'

/** What a field of a usage record is, for all that stores and shows it. */
export interface UsageField {
  /** With what the OpenAPI document says of it. */
  readonly rule: z.ZodType
  /**
   * How stores with columns keep it: a text, a time, JSON, a flag, an integer of 64 or of 32 bits, or a number that is added
   * up. `packed`: a text made of the value and other fields.
   */
  readonly kept: 'name' | 'real' | 'json' | 'flag' | 'integer' | 'int' | 'count' | 'packed'
  /** Many requests have the same. `whole`: also those of different accounts and keys, so that sums over all have few rows. */
  readonly shared?: 'own' | 'whole'
  /** The usual value, which columns need not keep. */
  readonly usual?: string | number | bigint
  /** Removed when a person is erased. */
  readonly personal?: true
  /** Requests can be selected by it. */
  readonly filter?: true
  /** Amounts that are added up. */
  readonly summed?: Omit<SummedAmount, 'name'>
  /** Not for customers. */
  readonly internal?: true
  /** How it is written into CSV files. */
  readonly exported?: 'text' | 'time' | 'money' | 'attempts'
}

const forOperator = 'Only for the operator.'
const text = z.string()
const number = z.number()
const amount = z.string().max(40).describe('A decimal string in the currency of the gateway.')

const attempt = z.object({
  provider: text.optional().describe(forOperator),
  providerModel: text.optional().describe(forOperator),
  outcome: z.enum(['succeeded', 'rejected', 'failed', 'aborted', 'skipped']),
  status: number.optional().describe('The HTTP status of the vendor. Only for the operator.'),
  code: text.optional(),
  startMs: number,
  ms: number,
})

const count = number.min(0)
const line = z.object({ item: text, quantity: count, per: count, price: text })
const outcome = z.enum(['completed', 'failed', 'cancelled', 'refused'])
const personal = { kept: 'name', filter: true, personal: true, exported: 'text' } as const
const deployment = {
  rule: text.optional().describe(forOperator),
  kept: 'name',
  shared: 'whole',
  internal: true,
  exported: 'text',
} as const

/** In the order of CSV files. */
export const usageFields: Readonly<Record<keyof UsageRecord, UsageField>> = {
  id: { rule: text, kept: 'name', exported: 'text' },
  startedAt: { rule: instant.describe('Milliseconds since the epoch.'), kept: 'real', exported: 'time' },
  account: { rule: text, kept: 'name', shared: 'own', filter: true, exported: 'text' },
  group: { rule: text, kept: 'name', shared: 'whole', exported: 'text' },
  key: { ...personal, rule: text.optional(), shared: 'own' },
  user: { ...personal, rule: text.optional(), shared: 'own' },
  session: { ...personal, rule: text.optional() },
  agent: { rule: text.optional().describe('The agent within the session.'), kept: 'name', personal: true },
  tags: { rule: z.array(text).optional(), kept: 'json', shared: 'own', personal: true, exported: 'text' },
  endpoint: { rule: text, kept: 'name', shared: 'whole', exported: 'text' },
  model: { rule: text, kept: 'name', shared: 'whole', filter: true, exported: 'text' },
  provider: deployment,
  providerModel: deployment,
  outcome: { rule: outcome, kept: 'name', usual: 'completed', filter: true, exported: 'text' },
  code: { rule: text.optional(), kept: 'name', filter: true, exported: 'text' },
  attempts: { rule: count.optional(), kept: 'int', exported: 'text' },
  attemptLog: { rule: z.array(attempt).optional(), kept: 'packed', exported: 'attempts' },
  stream: { rule: z.boolean(), kept: 'flag', exported: 'text' },
  ...eachUnit((unit): UsageField => ({ rule: units[unit], kept: 'count', usual: 0, exported: 'text' })),
  cost: { rule: amount, kept: 'integer', summed: {}, exported: 'money' },
  overage: { rule: amount, kept: 'integer', usual: 0n, exported: 'money' },
  basis: { rule: text.describe('What the charge is based on.'), kept: 'name', usual: 'reported', exported: 'text' },
  vendorCost: {
    rule: amount.optional().describe(`What the request cost the host at its vendors. ${forOperator}`),
    kept: 'integer',
    summed: { missing: 'uncosted' },
    internal: true,
    exported: 'money',
  },
  lines: { rule: z.array(line).optional(), kept: 'json' },
  firstByteMs: { rule: number.optional(), kept: 'count', exported: 'text' },
  totalMs: { rule: number, kept: 'real', exported: 'text' },
}

/** The names of the fields, or of those with a property. */
export function usageFieldsWith(has: (field: UsageField) => unknown = () => true): readonly (keyof UsageRecord)[] {
  return (Object.keys(usageFields) as (keyof UsageRecord)[]).filter((name) => has(usageFields[name]))
}

/** An amount of usage records that is added up. */
export interface SummedAmount {
  /** The field of records, and of sums. */
  readonly name: 'cost' | 'vendorCost'
  /** The field of sums that counts the records without it. Absent: all have it. */
  readonly missing?: 'uncosted'
}

/** The amounts that are added up. */
export const summedAmounts: readonly SummedAmount[] = usageFieldsWith(({ summed }) => summed).map((name) => ({
  name: name as SummedAmount['name'],
  ...usageFields[name].summed,
}))

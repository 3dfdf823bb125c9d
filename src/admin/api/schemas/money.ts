/** Accounts, ledger entries, caps and invoices. */
import * as z from 'zod'
import { id, text, time } from '../../questions.ts'
import { count, money } from './values.ts'

/** An account. */
export const account: z.ZodObject = z.object({
  id,
  name: text.optional(),
  balance: money,
  held: money.describe('Held for open requests; not included in `balance`.'),
  unlimited: z.boolean().describe('Whether requests are admitted regardless of the balance.'),
  createdAt: time,
})

/** The result of a payment. */
export const credited: z.ZodObject = z.object({
  balance: money,
  repeated: z
    .boolean()
    .describe('Whether the reference was already used for the same payment, so that nothing changed.'),
})

/** A ledger entry. */
export const entry: z.ZodObject = z.object({
  number: z.int(),
  account: id,
  at: time,
  kind: z.enum(['credit', 'settle', 'release', 'opening']),
  reference: z.string(),
  amount: money,
  overage: money,
  note: z.string().optional(),
})

const amounts = z.object({ money: money.optional(), tokens: count.optional(), calls: count.optional() })

/** A cap and its use. */
export const cap: z.ZodObject = z.object({
  cap: z.string(),
  per: z.enum(['account', 'key', 'user', 'all']),
  start: time,
  resetsAt: time,
  limits: amounts.describe('The limits in force. A measure that is absent is not limited.'),
  used: amounts,
  held: amounts.describe('What open requests hold in addition.'),
  overrides: z.array(
    z.object({
      money: money.nullish(),
      tokens: count.nullish(),
      calls: count.nullish(),
      until: time.optional(),
    }),
  ),
})

/** The use of one model by one account. */
export const invoiceItem: z.ZodObject = z.object({
  account: id,
  model: z.string(),
  requests: count,
  cost: money,
  lines: z.array(z.object({ item: z.string(), quantity: count, per: count, price: z.string(), amount: z.string() })),
  rest: z.string().describe('What the lines do not say.'),
})

/** The result of recomputing all balances. */
export const audit: z.ZodObject = z.object({
  accounts: count,
  credits: money,
  balances: money,
  holds: money,
  settlements: money,
  faults: z.array(z.object({ account: id, balance: money, expected: money })).describe('Empty unless data is corrupt.'),
})

/** A request on which ledger and usage record do not agree. */
export const difference: z.ZodObject = z.object({
  kind: z.enum(['unrecorded', 'uncharged', 'amount']),
  id: z.string(),
  charged: money.optional(),
  recorded: money.optional(),
})

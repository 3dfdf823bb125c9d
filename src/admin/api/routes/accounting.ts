import * as z from 'zod'
import type { InvoiceQuestion } from '../../usage.ts'
import { formatMoney } from '../../../money/money.ts'
import { forAccount, forOperator, type Route } from '../route.ts'
import { id, invoicePeriod, month, time } from '../../questions.ts'
import { component, count, listOf, money } from '../schemas/values.ts'
import { entry } from './accounts.ts'

/** The use of one model by one account. */
const invoiceItem = component(
  'InvoiceItem',
  z.object({
    account: id,
    model: z.string(),
    requests: count,
    cost: money,
    lines: z.array(z.object({ item: z.string(), quantity: count, per: count, price: z.string(), amount: z.string() })),
    rest: z.string().describe('What the lines do not say.'),
  }),
)

const audit = z.object({
  accounts: count,
  credits: money,
  balances: money,
  holds: money,
  settlements: money,
  faults: z.array(z.object({ account: id, balance: money, expected: money })).describe('Empty unless data is corrupt.'),
})

const difference = z.object({
  kind: z.enum(['unrecorded', 'uncharged', 'amount']),
  id: z.string(),
  charged: money.optional(),
  recorded: money.optional(),
})

const mostDifferences = 1_000

const statement = z.object({
  account: id,
  from: time,
  to: time,
  opening: money.describe('The balance at the start, with what was held.'),
  credits: z.array(entry).describe('Oldest first.'),
  charges: z.array(invoiceItem),
  charged: money.describe('The sum of `charges`.'),
  otherCharges: money.describe('What else was charged, less what of `charges` was charged in another month.'),
  closing: money.describe('The balance at the end, with what was held.'),
})

const statementMonth = { month, timeZone: invoicePeriod.timeZone }

/** The routes of invoices, and of the checks of the books. */
export const accountingRoutes: readonly Route[] = [
  forAccount('getInvoice', 'GET /accounts/{account}/invoice', {
    summary: 'Returns what an account was charged in a period, by model.',
    query: invoicePeriod,
    list: invoiceItem,
    answer: ({ admin, account, query }) => admin.usage.invoice({ account, ...query } as InvoiceQuestion),
  }),
  forAccount('exportInvoice', 'GET /accounts/{account}/invoice.csv', {
    summary: 'Returns the lines of an invoice as CSV.',
    query: invoicePeriod,
    csv: ({ admin, account, query }) => admin.csv.invoice({ account, ...query } as InvoiceQuestion),
  }),
  forOperator('listInvoices', 'GET /invoices', {
    summary: 'Returns what all accounts were charged in a period, by account and model.',
    query: invoicePeriod,
    list: invoiceItem,
    answer: ({ admin, query }) => admin.usage.invoice({ all: true, ...query } as InvoiceQuestion),
  }),
  forOperator('exportInvoices', 'GET /invoices.csv', {
    summary: 'Returns the invoice lines of all accounts as CSV.',
    query: invoicePeriod,
    csv: ({ admin, query }) => admin.csv.invoice({ all: true, ...query } as InvoiceQuestion),
  }),
  forAccount('getStatement', 'GET /accounts/{account}/statement', {
    summary:
      'Returns what an account paid and was charged in a calendar month, from the opening to the closing balance.',
    query: statementMonth,
    response: statement,
    isLong: true,
    answer: ({ admin, account, query }) => admin.statement({ account, ...query }),
  }),
  forAccount('exportStatement', 'GET /accounts/{account}/statement.csv', {
    summary: 'Returns the same as CSV, of which the closing balance is the sum.',
    query: statementMonth,
    csv: ({ admin, account, query }) => admin.csv.statement({ account, ...query }),
  }),
  forOperator('audit', 'GET /audit', {
    summary: 'Recomputes all balances from the ledger entries.',
    response: audit,
    async answer({ admin }) {
      const { accounts, credits, balances, holds, settlements, faults } = await admin.accounts.audit()
      return {
        accounts,
        ...moneyIn({ credits, balances, holds, settlements }),
        faults: faults.map(({ account, balance, expected }) => ({ account, ...moneyIn({ balance, expected }) })),
      }
    },
  }),
  forOperator('listDifferences', 'GET /accounts/{account}/differences', {
    summary: 'Lists requests of which ledger and usage records do not agree.',
    query: { from: time, to: time },
    response: listOf(difference).extend({ complete: z.boolean().describe('Whether there are no more.') }),
    async answer({ admin, account, query }) {
      const items: object[] = []
      for await (const found of admin.accounts.differences({ account, ...query })) {
        if (items.length === mostDifferences) return { items, complete: false }
        items.push(found)
      }
      return { items, complete: true }
    },
  }),
]

/** Amounts as decimal strings. */
function moneyIn(amounts: Readonly<Record<string, bigint>>): Record<string, string> {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, formatMoney(amount)]))
}

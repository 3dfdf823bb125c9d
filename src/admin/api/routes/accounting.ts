import * as z from 'zod'
import type { InvoiceQuestion } from '../../usage.ts'
import { formatMoney } from '../../../money/money.ts'
import { given, route, type Route } from '../route.ts'
import { invoicePeriod, time } from '../../questions.ts'
import { audit, difference, invoiceItem } from '../schemas/money.ts'
import { listOf } from '../schemas/values.ts'

const period = z.strictObject(invoicePeriod)

/** The most differences in one response. */
const mostDifferences = 1_000

/** The routes of invoices, and of the checks of the books. */
export const accountingRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/accounts/{account}/invoice',
    name: 'getInvoice',
    summary: 'Returns what an account was charged in a period, by model.',
    role: 'account',
    produces: 'json',
    query: period,
    response: listOf(invoiceItem),
    answer: async ({ gateway, account, query }) => ({
      items: await gateway.admin.usage.invoice({ account, ...given(query) } as InvoiceQuestion),
    }),
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/invoice.csv',
    name: 'exportInvoice',
    summary: 'Returns the lines of an invoice as CSV.',
    role: 'account',
    produces: 'csv',
    query: period,
    answer: ({ gateway, account, query }) => gateway.admin.csv.invoice({ account, ...given(query) } as InvoiceQuestion),
  }),
  route({
    method: 'GET',
    path: '/invoices',
    name: 'listInvoices',
    summary: 'Returns what all accounts were charged in a period, by account and model.',
    role: 'admin',
    produces: 'json',
    query: period,
    response: listOf(invoiceItem),
    answer: async ({ gateway, query }) => ({
      items: await gateway.admin.usage.invoice({ all: true, ...given(query) } as InvoiceQuestion),
    }),
  }),
  route({
    method: 'GET',
    path: '/invoices.csv',
    name: 'exportInvoices',
    summary: 'Returns the invoice lines of all accounts as CSV.',
    role: 'admin',
    produces: 'csv',
    query: period,
    answer: ({ gateway, query }) => gateway.admin.csv.invoice({ all: true, ...given(query) } as InvoiceQuestion),
  }),
  route({
    method: 'GET',
    path: '/audit',
    name: 'audit',
    summary: 'Recomputes all balances from the ledger entries.',
    role: 'admin',
    produces: 'json',
    response: audit,
    async answer({ gateway }) {
      const { accounts, credits, balances, holds, settlements, faults } = await gateway.admin.accounts.audit()
      return {
        accounts,
        credits: formatMoney(credits),
        balances: formatMoney(balances),
        holds: formatMoney(holds),
        settlements: formatMoney(settlements),
        faults: faults.map(({ account, balance, expected }) => ({
          account,
          balance: formatMoney(balance),
          expected: formatMoney(expected),
        })),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/differences',
    name: 'listDifferences',
    summary: 'Lists requests of which ledger and usage records do not agree.',
    role: 'admin',
    produces: 'json',
    query: z.strictObject({ from: time, to: time }),
    response: listOf(difference).extend({ complete: z.boolean().describe('Whether there are no more.') }),
    async answer({ gateway, account, query }) {
      const items: object[] = []
      for await (const found of gateway.admin.accounts.differences({ account, ...query })) {
        if (items.length === mostDifferences) return { items, complete: false }
        items.push(found)
      }
      return { items, complete: true }
    },
  }),
]

import * as z from 'zod'
import { allowance } from '../../credits.ts'
import { forAccount, forOperator, type Route } from '../route.ts'
import { present } from '../scope.ts'
import { accountShape, id, page, payment, prefix, refund, text, time } from '../../questions.ts'
import { component, money } from '../schemas/values.ts'

/** An account. */
const account = component(
  'Account',
  z.object({
    id,
    name: text.optional(),
    balance: money,
    held: money.describe('Held for open requests; not included in `balance`.'),
    unlimited: z.boolean().describe('Whether requests are admitted regardless of the balance.'),
    createdAt: time,
  }),
)

/** The result of a payment. */
const credited = z.object({
  balance: money,
  repeated: z
    .boolean()
    .describe('Whether the reference was already used for the same payment, so that nothing changed.'),
})

const expiring = z.object({
  reference: z.string(),
  left: money,
  expiresAt: time,
  allowance: z
    .object({ ...allowance, amount: money })
    .optional()
    .describe('What follows it.'),
})

/** A ledger entry. */
export const entry: z.ZodObject = component(
  'Entry',
  z.object({
    number: z.int(),
    account: id,
    at: time,
    kind: z.enum(['credit', 'settle', 'release', 'opening']),
    reference: z.string(),
    amount: money,
    overage: money,
    note: z.string().optional(),
  }),
)

/** The routes of accounts and payments. */
export const accountRoutes: readonly Route[] = [
  forOperator('listAccounts', 'GET /accounts', {
    summary: 'Lists accounts with their balances, ordered by id.',
    query: { prefix, ...page },
    page: account,
    answer: ({ admin, query }) => admin.accounts.list(query),
  }),
  forOperator('exportAccounts', 'GET /accounts.csv', {
    summary: 'Lists accounts as CSV.',
    csv: ({ admin }) => admin.csv.accounts(),
  }),
  forOperator('openAccount', 'POST /accounts', {
    summary: 'Opens an account, or changes the given fields of one.',
    status: 201,
    body: { id, ...accountShape },
    response: account,
    answer: ({ admin, body }) => admin.accounts.open(body),
  }),
  forAccount('getAccount', 'GET /accounts/{account}', {
    summary: 'Returns an account with its balance.',
    response: account,
    answer: async ({ admin, account: wanted }) => present(await admin.accounts.find(wanted), 'account'),
  }),
  forOperator('updateAccount', 'PATCH /accounts/{account}', {
    summary: 'Names an account, or makes it unlimited.',
    body: accountShape,
    response: account,
    async answer({ admin, account: wanted, body }) {
      // `open` would open an account whose id has a typo.
      present(await admin.accounts.find(wanted), 'account')
      return admin.accounts.open({ id: wanted, ...body })
    },
  }),
  forOperator('topUp', 'POST /accounts/{account}/top-ups', {
    summary: 'Adds a payment to an account, which is opened if it does not exist.',
    body: payment,
    response: credited,
    answer: ({ admin, account: to, body }) => admin.accounts.topUp({ account: to, ...body }),
  }),
  forOperator('adjust', 'POST /accounts/{account}/adjustments', {
    summary: 'Adds to or subtracts from a balance, without a minimum.',
    body: payment,
    response: credited,
    answer: ({ admin, account: to, body }) => admin.accounts.adjust({ account: to, ...body }),
  }),
  forOperator('refund', 'POST /accounts/{account}/refunds', {
    summary: "Gives a request's charge back, in whole or in part, once per request.",
    body: refund,
    response: credited,
    answer: ({ admin, account: to, body }) => admin.accounts.refund({ account: to, ...body }),
  }),
  forOperator('allow', 'PUT /accounts/{account}/allowance', {
    summary: 'Gives an account an amount in each period, of which what is left expires at its end; `0` ends it.',
    body: allowance,
    list: expiring,
    answer: ({ admin, account: to, body }) => admin.accounts.allow({ account: to, ...body }),
  }),
  forAccount('listCredits', 'GET /accounts/{account}/credits', {
    summary: 'Lists what is left of credits that expire, the soonest first.',
    list: expiring,
    answer: ({ admin, account: of }) => admin.accounts.credits(of),
  }),
  forAccount('listEntries', 'GET /accounts/{account}/entries', {
    summary: 'Lists the ledger entries of an account, newest first.',
    query: page,
    page: entry,
    answer: ({ admin, account: of, query }) => admin.accounts.entries(of, query),
  }),
  forAccount('exportEntries', 'GET /accounts/{account}/entries.csv', {
    summary: 'Lists the ledger entries of an account as CSV.',
    csv: ({ admin, account: of }) => admin.csv.entries(of),
  }),
]

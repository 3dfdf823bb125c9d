import * as z from 'zod'
import { GatewayError } from '../../../errors.ts'
import { given, route, type Route } from '../route.ts'
import { accountShape, id, page, payment, prefix, refund } from '../../questions.ts'
import { account, credited, entry } from '../schemas/money.ts'
import { pageOf } from '../schemas/values.ts'

/** The routes of accounts and payments. */
export const accountRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/accounts',
    name: 'listAccounts',
    summary: 'Lists accounts with their balances, ordered by id.',
    role: 'admin',
    produces: 'json',
    query: z.strictObject({ prefix, ...page }),
    response: pageOf(account),
    answer: ({ gateway, query }) => gateway.admin.accounts.list(given(query)),
  }),
  route({
    method: 'GET',
    path: '/accounts.csv',
    name: 'exportAccounts',
    summary: 'Lists accounts as CSV.',
    role: 'admin',
    produces: 'csv',
    answer: ({ gateway }) => gateway.admin.csv.accounts(),
  }),
  route({
    method: 'POST',
    path: '/accounts',
    name: 'openAccount',
    summary: 'Opens an account, or changes the given fields of one.',
    role: 'admin',
    produces: 'json',
    status: 201,
    body: z.strictObject({ id, ...accountShape }),
    response: account,
    answer: ({ gateway, body }) => gateway.admin.accounts.open(given(body)),
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}',
    name: 'getAccount',
    summary: 'Returns an account with its balance.',
    role: 'account',
    produces: 'json',
    response: account,
    async answer({ gateway, account: wanted }) {
      const found = await gateway.admin.accounts.find(wanted)
      if (found === undefined) throw new GatewayError('not_found', { message: 'No such account.' })
      return found
    },
  }),
  route({
    method: 'PATCH',
    path: '/accounts/{account}',
    name: 'updateAccount',
    summary: 'Names an account, or makes it unlimited.',
    role: 'admin',
    produces: 'json',
    body: z.strictObject(accountShape),
    response: account,
    async answer({ gateway, account: wanted, body }) {
      // `open` would open an account whose id has a typo.
      const found = await gateway.admin.accounts.find(wanted)
      if (found === undefined) throw new GatewayError('not_found', { message: 'No such account.' })
      return gateway.admin.accounts.open({ id: wanted, ...given(body) })
    },
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/top-ups',
    name: 'topUp',
    summary: 'Adds a payment to an account, which is opened if it does not exist.',
    role: 'admin',
    produces: 'json',
    body: z.strictObject(payment),
    response: credited,
    answer: ({ gateway, account: to, body }) => gateway.admin.accounts.topUp({ account: to, ...given(body) }),
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/adjustments',
    name: 'adjust',
    summary: 'Adds to or subtracts from a balance, without a minimum.',
    role: 'admin',
    produces: 'json',
    body: z.strictObject(payment),
    response: credited,
    answer: ({ gateway, account: to, body }) => gateway.admin.accounts.adjust({ account: to, ...given(body) }),
  }),
  route({
    method: 'POST',
    path: '/accounts/{account}/refunds',
    name: 'refund',
    summary: "Gives a request's charge back, in whole or in part, once per request.",
    role: 'admin',
    produces: 'json',
    body: z.strictObject(refund),
    response: credited,
    answer: ({ gateway, account: to, body }) => gateway.admin.accounts.refund({ account: to, ...given(body) }),
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/entries',
    name: 'listEntries',
    summary: 'Lists the ledger entries of an account, newest first.',
    role: 'account',
    produces: 'json',
    query: z.strictObject(page),
    response: pageOf(entry),
    answer: ({ gateway, account: of, query }) => gateway.admin.accounts.entries(of, given(query)),
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/entries.csv',
    name: 'exportEntries',
    summary: 'Lists the ledger entries of an account as CSV.',
    role: 'account',
    produces: 'csv',
    answer: ({ gateway, account: of }) => gateway.admin.csv.entries(of),
  }),
]

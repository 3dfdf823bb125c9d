import * as z from 'zod'
import { apiKey, id, time } from '../../questions.ts'
import { route, type Route } from '../route.ts'
import { listOf } from '../schemas/values.ts'

const vendorKey = z.object({
  account: id,
  provider: id.describe('The name of the provider that it is for.'),
  hint: z.string().describe('The last four characters of the key; empty for a short one.'),
  createdAt: time,
  by: id.optional().describe('Who stored it. Absent for the code of the host.'),
})

/** The routes of accounts' own keys at vendors. */
export const vendorKeyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/vendor-keys/providers',
    name: 'listVendorKeyProviders',
    summary:
      'Lists the names of the providers that take keys of accounts. Empty if a registry of the host has the models.',
    role: 'account',
    produces: 'json',
    response: listOf(z.string()),
    answer: ({ gateway }) => ({ items: gateway.admin.vendorKeys.providers() }),
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/vendor-keys',
    name: 'listVendorKeys',
    summary: "Lists an account's own keys at vendors, without the keys themselves.",
    role: 'account',
    produces: 'json',
    response: listOf(vendorKey),
    answer: async ({ gateway, account }) => ({ items: await gateway.admin.vendorKeys.list(account) }),
  }),
  route({
    method: 'PUT',
    path: '/accounts/{account}/vendor-keys/{provider}',
    name: 'putVendorKey',
    summary: "Stores an account's own key at a vendor, in the place of the one that it has. No response contains it.",
    role: 'account',
    produces: 'json',
    body: z.strictObject({ apiKey }),
    response: vendorKey,
    answer: ({ gateway, account, id: provider, body }) =>
      gateway.admin.vendorKeys.put({ account, provider, apiKey: body.apiKey }),
  }),
  route({
    method: 'DELETE',
    path: '/accounts/{account}/vendor-keys/{provider}',
    name: 'deleteVendorKey',
    summary: "Deletes an account's own key at a vendor. It is not used any more after a second.",
    role: 'account',
    produces: 'json',
    response: vendorKey,
    answer: ({ gateway, account, id: provider }) => gateway.admin.vendorKeys.delete(account, provider),
  }),
  route({
    method: 'POST',
    path: '/vendor-keys/rotate',
    name: 'rotateVendorKeys',
    summary: 'Seals all vendor keys with the first of the secrets, so that the others can be removed.',
    role: 'admin',
    produces: 'json',
    body: z.strictObject({}),
    response: z.object({
      resealed: z.int().describe('Number of keys that were sealed anew.'),
      unreadable: z.int().describe('Number of keys that none of the secrets opens.'),
    }),
    answer: ({ gateway }) => gateway.admin.vendorKeys.rotate(),
  }),
]

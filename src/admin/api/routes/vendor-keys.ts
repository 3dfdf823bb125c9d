import * as z from 'zod'
import { apiKey, id, time } from '../../questions.ts'
import { forAccount, forOperator, type Route } from '../route.ts'

const vendorKey = z.object({
  account: id,
  provider: id.describe('The name of the provider that it is for.'),
  hint: z.string().describe('The last four characters of the key; empty for a short one.'),
  createdAt: time,
  by: id.optional().describe('Who stored it. Absent for the code of the host.'),
})

/** The routes of accounts' own keys at vendors. */
export const vendorKeyRoutes: readonly Route[] = [
  forAccount('listVendorKeyProviders', 'GET /vendor-keys/providers', {
    summary:
      'Lists the names of the providers that take keys of accounts. Empty if a registry of the host has the models.',
    list: z.string(),
    answer: ({ admin }) => admin.vendorKeys.providers(),
  }),
  forAccount('listVendorKeys', 'GET /accounts/{account}/vendor-keys', {
    summary: "Lists an account's own keys at vendors, without the keys themselves.",
    list: vendorKey,
    answer: ({ admin, account }) => admin.vendorKeys.list(account),
  }),
  forAccount('putVendorKey', 'PUT /accounts/{account}/vendor-keys/{provider}', {
    summary: "Stores an account's own key at a vendor, in the place of the one that it has. No response contains it.",
    body: { apiKey },
    response: vendorKey,
    answer: ({ admin, account, id: provider, body }) =>
      admin.vendorKeys.put({ account, provider, apiKey: body.apiKey }),
  }),
  forAccount('deleteVendorKey', 'DELETE /accounts/{account}/vendor-keys/{provider}', {
    summary: "Deletes an account's own key at a vendor. It is not used any more after a second.",
    response: vendorKey,
    answer: ({ admin, account, id: provider }) => admin.vendorKeys.delete(account, provider),
  }),
  forOperator('rotateVendorKeys', 'POST /vendor-keys/rotate', {
    summary: 'Seals all vendor keys with the first of the secrets, so that the others can be removed.',
    body: {},
    response: z.object({
      resealed: z.int().describe('Number of keys that were sealed anew.'),
      unreadable: z.int().describe('Number of keys that none of the secrets opens.'),
    }),
    answer: ({ admin }) => admin.vendorKeys.rotate(),
  }),
]

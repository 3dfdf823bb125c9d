import * as z from 'zod'
import { breakerState } from './health.ts'
import { component, count } from './values.ts'

const price = z
  .record(z.string(), z.unknown())
  .describe('The price as in the options of the gateway, without the factor of the group: decimal strings by part.')

/** A model. */
export const model: z.ZodObject = component(
  'Model',
  z.object({
    id: z.string(),
    created: z.number().describe('Seconds since the epoch.'),
    displayName: z.string().optional(),
    ownedBy: z.string(),
    contextWindow: count.optional(),
    maxOutputTokens: count.optional(),
    groups: z.array(z.string()).describe('The groups that may use it, of those that the identity may use.'),
    price: price.optional(),
    deployments: z
      .array(
        z.object({
          provider: z.string(),
          model: z.string(),
          state: breakerState.describe('As this process sees it: requests avoid a deployment that is not closed.'),
          order: z.number(),
          weight: z.number(),
          price: price.optional(),
        }),
      )
      .optional()
      .describe('Only for the operator.'),
  }),
)

/** Where prices are from. */
export const prices: z.ZodObject = z.object({
  name: z.string().optional().describe('The price table of the options. Absent if there is none.'),
  date: z.string().optional(),
  currency: z.string().optional(),
})

/** Who sent the request, and what the gateway offers. */
export const me: z.ZodObject = z.object({
  role: z.enum(['admin', 'account']),
  account: z.string().optional(),
  readOnly: z.boolean().describe('Whether writes are refused.'),
  groups: z.array(z.string()).describe('The groups in which keys can be created.'),
  currency: z.string().optional(),
  version: z.string().describe('The version of the package.'),
  units: z.array(z.string()).describe('What requests are counted in: fields of requests and of sums.'),
  features: z.object({
    accounts: z.boolean(),
    caps: z.boolean(),
    credits: z.boolean(),
    alerts: z.boolean(),
    usage: z.boolean(),
    keys: z.boolean(),
    registry: z.boolean(),
    keySearch: z.boolean(),
    vendorKeys: z.boolean(),
    videoSearch: z.boolean(),
    content: z.boolean().describe('Whether the identity may read what was asked and answered.'),
    reconcile: z.boolean().describe('False except for the operator.'),
    costs: z.boolean().describe('Whether it is known what calls cost the host. False except for the operator.'),
  }),
})

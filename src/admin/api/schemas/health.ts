import * as z from 'zod'
import { time } from '../../questions.ts'
import { count } from './values.ts'

/** The state of a breaker. */
export const breakerState: z.ZodEnum<{ closed: 'closed'; open: 'open'; 'half-open': 'half-open' }> = z.enum([
  'closed',
  'open',
  'half-open',
])

/** The state of the process that responds. */
export const health: z.ZodObject = z.object({
  ready: z.boolean().describe('Whether new requests should be sent to this process.'),
  draining: z.boolean().describe('Whether it is being closed.'),
  stores: z.array(
    z.object({
      store: z.string(),
      reachable: z.boolean(),
      required: z.boolean().describe('Whether requests to models fail without it.'),
      ms: z.number().describe('Milliseconds of its last check.'),
      lastError: z.object({ code: z.string(), at: time }).optional(),
    }),
  ),
  deployments: z.array(
    z.object({
      model: z.string().optional(),
      provider: z.string(),
      providerModel: z.string(),
      state: breakerState,
    }),
  ),
  openCalls: count,
  holds: count.describe('Holds of open requests in the ledger.'),
  queues: z.record(z.string(), count).describe('What the stores have not accepted yet.'),
  droppedRecords: count.describe('Usage records dropped since the start.'),
  failingStores: z.array(z.string()),
  export: z
    .object({
      waiting: count.describe('Accounts with a batch that was refused and comes again.'),
      sentAt: time.optional(),
      refusedAt: time.optional(),
    })
    .optional()
    .describe('What this process knows of `billing.export`.'),
  tasksDue: count.optional().describe('Video tasks whose next step is due, 1,000 at most.'),
})

/** A likely mistake in the options. */
export const warning: z.ZodObject = z.object({
  code: z.string(),
  where: z.string().describe('The option.'),
  message: z.string().describe('What is probably wrong, and what to change.'),
})

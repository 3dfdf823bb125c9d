import * as z from 'zod'
import { id, time } from '../../questions.ts'

/** A video task. */
export const video: z.ZodObject = z.object({
  id,
  account: id,
  group: z.string(),
  key: z.string().optional(),
  user: z.string().optional(),
  session: z.string().optional(),
  model: z.string(),
  provider: z.string().optional().describe('Only for the operator.'),
  providerModel: z.string().optional().describe('Only for the operator.'),
  state: z.enum(['pending', 'processing', 'completed', 'failed']),
  progress: z.number().optional().describe('Percent.'),
  prompt: z.string(),
  seconds: z.number(),
  size: z.string().optional(),
  createdAt: time,
  finishedAt: time.optional(),
  expiresAt: time,
  error: z.object({ code: z.string(), message: z.string() }).optional(),
})

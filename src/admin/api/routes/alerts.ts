import * as z from 'zod'
import { isShared } from '../../../admission/cap-refusal.ts'
import { capOwners } from '../../../records/cap.ts'
import { forAccount, type Route } from '../route.ts'
import { id, page, time } from '../../questions.ts'
import { money } from '../schemas/values.ts'

const common = {
  id: z.string().describe('The same for each delivery of the alert.'),
  account: id.describe('The account whose request caused the alert.'),
  request: id.describe('The id of that request, as in `x-request-id`.'),
  createdAt: time,
}

/** An alert of a cap or of a balance. */
const alert = z.discriminatedUnion('type', [
  z.object({
    ...common,
    type: z.literal('cap.threshold'),
    cap: z.string(),
    per: z.enum(capOwners),
    group: z.string(),
    key: id.optional(),
    user: z.string().optional(),
    tag: z.string().optional(),
    model: z.string().optional(),
    measure: z.enum(['money', 'tokens', 'calls']),
    percent: z.number().describe('The threshold.'),
    limit: z.string().describe('The limit in force. A decimal string.'),
    used: z.string().describe('What was used, with the request. A decimal string.'),
    periodStart: time,
    periodEnd: time,
  }),
  z.object({
    ...common,
    type: z.literal('balance.low'),
    level: money,
    balance: money.describe('The balance with what open requests hold.'),
  }),
])

/** The route of alerts. */
export const alertRoutes: readonly Route[] = [
  forAccount('listAlerts', 'GET /alerts', {
    summary:
      'Lists alerts of caps and balances, newest first. For an account, pages can have fewer items than `limit`.',
    query: { account: id.optional(), ...page },
    page: alert,
    async answer({ admin, query, scope, identity }) {
      const { account: _, ...asked } = query
      const found = await admin.alerts.list({ ...asked, ...scope })
      if (identity.role === 'admin') return found
      // What all callers together use is no business of one of them.
      return { ...found, items: found.items.filter((each) => each.type !== 'cap.threshold' || !isShared(each.per)) }
    },
  }),
]

import * as z from 'zod'
import { given, route, type Route } from '../route.ts'
import { alert } from '../schemas/alert.ts'
import { id, page } from '../../questions.ts'
import { pageOf } from '../schemas/values.ts'

/** The route of alerts. */
export const alertRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/alerts',
    name: 'listAlerts',
    summary:
      'Lists alerts of caps and balances, newest first. For an account, pages can have fewer items than `limit`.',
    role: 'account',
    produces: 'json',
    query: z.strictObject({ account: id.optional(), ...page }),
    response: pageOf(alert),
    async answer({ gateway, query, scope, identity }) {
      const { account: _, ...asked } = query
      const found = await gateway.admin.alerts.list({ ...given(asked), ...scope })
      if (identity.role === 'admin') return found
      // What all callers together use is no business of one of them.
      return { ...found, items: found.items.filter((each) => each.type !== 'cap.threshold' || each.per !== 'all') }
    },
  }),
]

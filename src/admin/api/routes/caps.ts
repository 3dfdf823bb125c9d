import * as z from 'zod'
import { isShared } from '../../../admission/cap-refusal.ts'
import { capOwners } from '../../../records/cap.ts'
import { forAccount, forOperator, type Route } from '../route.ts'
import { requireGroup } from '../groups.ts'
import { capOverride, capSubject, time } from '../../questions.ts'
import { component, count, money } from '../schemas/values.ts'

const amounts = z.object({ money: money.optional(), tokens: count.optional(), calls: count.optional() })

/** A cap and its use. */
const cap = component(
  'Cap',
  z.object({
    cap: z.string(),
    per: z.enum(capOwners),
    tag: z.string().optional(),
    start: time,
    resetsAt: time,
    limits: amounts.describe('The limits in force. A measure that is absent is not limited.'),
    used: amounts,
    held: amounts.describe('What open requests hold in addition.'),
    overrides: z.array(
      z.object({
        money: money.nullish(),
        tokens: count.nullish(),
        calls: count.nullish(),
        until: time.optional(),
      }),
    ),
  }),
)

/** The routes of caps. */
export const capRoutes: readonly Route[] = [
  forAccount('listCaps', 'GET /accounts/{account}/caps', {
    summary: 'Lists the caps of an account, key, group, user, tag and model: limits, use, and when they reset.',
    query: capSubject,
    list: cap,
    async answer(call) {
      const { admin, account, query, identity } = call
      await requireGroup(call, query.group)
      const items = await admin.caps.list({ account, ...query })
      // What all callers together use is no business of one of them.
      return identity.role === 'admin' ? items : items.filter(({ per }) => !isShared(per))
    },
  }),
  forOperator('overrideCap', 'PUT /accounts/{account}/caps/{cap}', {
    summary: 'Replaces limits of a cap, for good or for a time.',
    body: capOverride,
    response: cap,
    answer: ({ admin, account, id, body }) => admin.caps.override({ account, cap: id, ...body }),
  }),
  forOperator('clearCap', 'DELETE /accounts/{account}/caps/{cap}', {
    summary: 'Removes the individual limits of a cap, so that its own apply again.',
    query: capSubject,
    response: cap,
    answer: ({ admin, account, id, query }) => admin.caps.clear({ account, cap: id, ...query }),
  }),
]

import * as z from 'zod'
import { given, route, type Route } from '../route.ts'
import { requireGroup } from '../groups.ts'
import { capOverride, capSubject } from '../../questions.ts'
import { cap } from '../schemas/money.ts'
import { listOf } from '../schemas/values.ts'

const subject = z.strictObject(capSubject)

/** The routes of caps. */
export const capRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/accounts/{account}/caps',
    name: 'listCaps',
    summary: 'Lists the caps of an account, key, group and user: limits, use, and when they reset.',
    role: 'account',
    produces: 'json',
    query: subject,
    response: listOf(cap),
    async answer(call) {
      const { gateway, account, query, identity } = call
      await requireGroup(call, query.group)
      const items = await gateway.admin.caps.list({ account, ...given(query) })
      // What all callers together use is no business of one of them.
      return { items: identity.role === 'admin' ? items : items.filter(({ per }) => per !== 'all') }
    },
  }),
  route({
    method: 'PUT',
    path: '/accounts/{account}/caps/{cap}',
    name: 'overrideCap',
    summary: 'Replaces limits of a cap, for good or for a time.',
    role: 'admin',
    produces: 'json',
    body: z.strictObject(capOverride),
    response: cap,
    answer: ({ gateway, account, id, body }) => gateway.admin.caps.override({ account, cap: id, ...given(body) }),
  }),
  route({
    method: 'DELETE',
    path: '/accounts/{account}/caps/{cap}',
    name: 'clearCap',
    summary: 'Removes the individual limits of a cap, so that its own apply again.',
    role: 'admin',
    produces: 'json',
    query: subject,
    response: cap,
    answer: ({ gateway, account, id, query }) => gateway.admin.caps.clear({ account, cap: id, ...given(query) }),
  }),
]

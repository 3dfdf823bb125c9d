import * as z from 'zod'
import type { LatencyQuestion } from '../../latency.ts'
import type { UsageSeriesQuestion } from '../../series.ts'
import type { UsageListQuestion, UsageSumsQuestion, UsageView } from '../../usage.ts'
import { invalid } from '../../../errors.ts'
import { usageFields, usageFieldsWith } from '../../../observe/usage/fields.ts'
import type { UsageDimension } from '../../../observe/usage/contract.ts'
import { given, route, type Route } from '../route.ts'
import type { Identity } from '../identity.ts'
import type { UsageScope } from '../../usage-scope.ts'
import { within } from '../scope.ts'
import { id, latencyQuestion, listFilter, page, seriesQuestion, usageSums } from '../../questions.ts'
import { latencyPoint, usageSeries } from '../schemas/series.ts'
import { request, usageRow } from '../schemas/usage.ts'
import { listOf, pageOf } from '../schemas/values.ts'

const account = id.optional()
const sums = z.strictObject({ account, ...usageSums })
const filter = z.strictObject({ account, ...listFilter })

/** The most rows of sums in one response. A CSV may have more. */
const mostRows = 10_000

/** The routes of usage and of the request log. */
export const usageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/usage',
    name: 'sumUsage',
    summary:
      'Sums usage by day, account, group, key, model, endpoint, user, tag or session, for the operator also by vendor.',
    role: 'account',
    produces: 'json',
    query: sums,
    response: listOf(usageRow),
    async answer({ gateway, query, scope, identity }) {
      const largest = { most: mostRows + 1, measure: 'cost' } as const
      const items = await gateway.admin.usage.statistics({ ...sumsOf(query, scope, identity), largest })
      if (items.length <= mostRows) return { items }
      const message = `These sums have more than ${mostRows} rows: choose fewer dimensions, a shorter time, or "/usage.csv".`
      throw invalid(message, 'by')
    },
  }),
  route({
    method: 'GET',
    path: '/usage.csv',
    name: 'exportUsage',
    summary: 'Returns sums of usage as CSV.',
    role: 'account',
    produces: 'csv',
    query: sums,
    answer: ({ gateway, query, scope, identity }) => gateway.admin.csv.statistics(sumsOf(query, scope, identity)),
  }),
  route({
    method: 'GET',
    path: '/usage/series',
    name: 'getUsageSeries',
    summary: 'Sums usage by periods of a range, in total and for the largest models, keys and so on.',
    role: 'account',
    produces: 'json',
    query: z.strictObject({ account, ...seriesQuestion }),
    response: usageSeries,
    answer: ({ gateway, query, scope }) =>
      gateway.admin.usage.series({ ...given(query), ...scope } as UsageSeriesQuestion),
  }),
  route({
    method: 'GET',
    path: '/usage/latency',
    name: 'getLatency',
    summary: 'Returns the latencies of the last requests in each period of a range.',
    role: 'account',
    produces: 'json',
    query: z.strictObject({ account, ...latencyQuestion }),
    response: listOf(latencyPoint),
    answer: async ({ gateway, query, scope }) => ({
      items: await gateway.admin.usage.latency({ ...given(query), ...scope } as LatencyQuestion),
    }),
  }),
  route({
    method: 'GET',
    path: '/requests',
    name: 'listRequests',
    summary: 'Lists requests, newest first.',
    role: 'account',
    produces: 'json',
    query: z.strictObject({ ...filter.shape, ...page }),
    response: pageOf(request),
    async answer({ gateway, query, scope, identity }) {
      const question = { ...given(query), ...scope, ...costsFor(identity) } as UsageListQuestion
      const found = await gateway.admin.usage.list(question)
      return { ...found, items: found.items.map((each) => shown(each, identity)) }
    },
  }),
  route({
    method: 'GET',
    path: '/requests.csv',
    name: 'exportRequests',
    summary: 'Lists requests as CSV.',
    role: 'account',
    produces: 'csv',
    query: filter,
    answer({ gateway, query, scope, identity }) {
      const question = { ...given(query), ...scope, ...costsFor(identity) } as UsageListQuestion
      return gateway.admin.csv.usage(question, identity.role === 'admin' ? [] : internal)
    },
  }),
  route({
    method: 'GET',
    path: '/requests/{request}',
    name: 'getRequest',
    summary: 'Returns the request to which this `x-request-id` leads, also that of a replayed response or of a video.',
    role: 'account',
    produces: 'json',
    response: request,
    answer: async ({ gateway, id, scope, identity }) =>
      shown(within(scope, await gateway.admin.usage.find(id, costsFor(identity))), identity),
  }),
]

function sumsOf(
  { by = [], ...rest }: { readonly by?: UsageDimension[] | undefined },
  scope: UsageScope,
  identity: Identity,
): UsageSumsQuestion {
  const hidden = identity.role === 'admin' ? undefined : by.find((each) => usageFields[each as 'provider']?.internal)
  if (hidden !== undefined) throw invalid(`"by" cannot have "${hidden}" here.`, 'by')
  return { by, ...given(rest), ...scope, ...costsFor(identity) }
}

/** What calls cost the host, and which vendor serves a model, is the operator's business. */
function costsFor({ role }: Identity): { readonly costs: boolean } {
  return { costs: role === 'admin' }
}

const internal = ['attemptLog', ...usageFieldsWith((field) => field.internal)] as (keyof UsageView)[]

function shown(view: UsageView, { role }: Identity): object {
  if (role === 'admin') return view
  const rest = Object.fromEntries(Object.entries(view).filter(([name]) => !internal.includes(name as 'provider')))
  const { attemptLog } = view
  if (attemptLog === undefined) return rest
  return { ...rest, attemptLog: attemptLog.map(({ outcome, code, startMs, ms }) => ({ outcome, code, startMs, ms })) }
}

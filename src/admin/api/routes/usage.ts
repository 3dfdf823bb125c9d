import type { LatencyQuestion } from '../../latency.ts'
import type { UsageSeriesQuestion } from '../../series.ts'
import type { UsageListQuestion, UsageSumsQuestion, UsageView } from '../../usage.ts'
import { invalid } from '../../../errors.ts'
import { usageFields } from '../../../observe/usage/fields.ts'
import type { UsageDimension } from '../../../observe/usage/contract.ts'
import { mapPage } from '../../../records/page.ts'
import { forAccount, type Route } from '../route.ts'
import type { Identity } from '../identity.ts'
import type { UsageScope } from '../../usage-scope.ts'
import { internal, seenBy, within } from '../scope.ts'
import { id, latencyQuestion, listFilter, page, seriesQuestion, usageSums } from '../../questions.ts'
import { latencyPoint, openCall, request, usageRow, usageSeries } from '../schemas/usage.ts'

const account = id.optional()
const sums = { account, ...usageSums }
const filter = { account, ...listFilter }

/** The most rows of sums in one response. A CSV may have more. */
const mostRows = 10_000

/** The routes of usage and of the request log. */
export const usageRoutes: readonly Route[] = [
  forAccount('sumUsage', 'GET /usage', {
    summary:
      'Sums usage by day, account, group, key, model, endpoint, user, tag or session, for the operator also by vendor.',
    query: sums,
    list: usageRow,
    async answer({ admin, query, scope, identity }) {
      const largest = { most: mostRows + 1, measure: 'cost' } as const
      const items = await admin.usage.statistics({ ...sumsOf(query, scope, identity), largest })
      if (items.length <= mostRows) return items
      const message = `These sums have more than ${mostRows} rows: choose fewer dimensions, a shorter time, or "/usage.csv".`
      throw invalid(message, 'by')
    },
  }),
  forAccount('exportUsage', 'GET /usage.csv', {
    summary: 'Returns sums of usage as CSV.',
    query: sums,
    csv: ({ admin, query, scope, identity }) => admin.csv.statistics(sumsOf(query, scope, identity)),
  }),
  forAccount('getUsageSeries', 'GET /usage/series', {
    summary: 'Sums usage by periods of a range, in total and for the largest models, keys and so on.',
    query: { account, ...seriesQuestion },
    response: usageSeries,
    answer: ({ admin, query, scope, identity }) =>
      admin.usage.series({ ...query, ...scope, ...costsFor(identity) } as UsageSeriesQuestion),
  }),
  forAccount('getLatency', 'GET /usage/latency', {
    summary: 'Returns the latencies of the last requests in each period of a range.',
    query: { account, ...latencyQuestion },
    list: latencyPoint,
    answer: ({ admin, query, scope }) => admin.usage.latency({ ...query, ...scope } as LatencyQuestion),
  }),
  forAccount('listRequests', 'GET /requests', {
    summary: 'Lists requests, newest first.',
    query: { ...filter, ...page },
    page: request,
    async answer({ admin, query, scope, identity }) {
      const question = { ...query, ...scope, ...costsFor(identity) } as UsageListQuestion
      return mapPage(await admin.usage.list(question), (each) => shown(each, identity))
    },
  }),
  forAccount('exportRequests', 'GET /requests.csv', {
    summary: 'Lists requests as CSV.',
    query: filter,
    csv({ admin, query, scope, identity }) {
      const question = { ...query, ...scope, ...costsFor(identity) } as UsageListQuestion
      return admin.csv.usage(question, identity.role === 'admin' ? [] : internal)
    },
  }),
  forAccount('listOpenCalls', 'GET /open-calls', {
    summary: 'Lists the requests that are in progress in the process that responds, the oldest first, at most 1,000.',
    query: { account },
    list: openCall,
    answer: ({ admin, scope, identity }) => admin.openCalls(scope).map((each) => seenBy(identity, each)),
  }),
  forAccount('getRequest', 'GET /requests/{request}', {
    summary: 'Returns the request to which this `x-request-id` leads, also that of a replayed response or of a video.',
    response: request,
    answer: async ({ admin, id, scope, identity }) =>
      shown(within(scope, await admin.usage.find(id, costsFor(identity))), identity),
  }),
]

function sumsOf(
  { by = [], ...rest }: { readonly by?: readonly UsageDimension[] },
  scope: UsageScope,
  identity: Identity,
): UsageSumsQuestion {
  const hidden = identity.role === 'admin' ? undefined : by.find((each) => usageFields[each as 'provider']?.internal)
  if (hidden !== undefined) throw invalid(`"by" cannot have "${hidden}" here.`, 'by')
  return { by, ...rest, ...scope, ...costsFor(identity) }
}

/** What calls cost the host, and which vendor serves a model, is the operator's business. */
function costsFor({ role }: Identity): { readonly costs: boolean } {
  return { costs: role === 'admin' }
}

function shown(view: UsageView, identity: Identity): object {
  const rest = seenBy(identity, view)
  const { attemptLog } = view
  if (identity.role === 'admin' || attemptLog === undefined) return rest
  return { ...rest, attemptLog: attemptLog.map(({ outcome, code, startMs, ms }) => ({ outcome, code, startMs, ms })) }
}

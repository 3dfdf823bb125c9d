/** The table of routes: what the API serves, and what its OpenAPI document describes. */
import { forAccount, type Route } from './route.ts'
import { accountRoutes } from './routes/accounts.ts'
import { alertRoutes } from './routes/alerts.ts'
import { auditRoutes } from './routes/audit.ts'
import { accountingRoutes } from './routes/accounting.ts'
import { capRoutes } from './routes/caps.ts'
import { contentRoutes } from './routes/content.ts'
import { keyRoutes } from './routes/keys.ts'
import { modelRoutes } from './routes/models.ts'
import { personalRoutes } from './routes/personal.ts'
import { reconcileRoutes } from './routes/reconcile.ts'
import { registryRoutes } from './routes/registry.ts'
import { usageRoutes } from './routes/usage.ts'
import { vendorKeyRoutes } from './routes/vendor-keys.ts'
import { videoRoutes } from './routes/videos.ts'
import * as z from 'zod'
import { openApi } from './openapi.ts'

const described: readonly Route[] = [
  ...modelRoutes,
  ...keyRoutes,
  ...vendorKeyRoutes,
  ...accountRoutes,
  ...capRoutes,
  ...alertRoutes,
  ...accountingRoutes,
  ...usageRoutes,
  ...contentRoutes,
  ...videoRoutes,
  ...personalRoutes,
  ...auditRoutes,
  ...reconcileRoutes,
  ...registryRoutes,
]

/** All routes. */
export const routes: readonly Route[] = [documentRoute(() => routes), ...described]

/** The route of the document about all routes. */
export function documentRoute(routes: () => readonly Route[]): Route {
  let document: object | undefined
  return forAccount('getOpenApi', 'GET /openapi.json', {
    summary: 'Returns this document.',
    response: z.record(z.string(), z.unknown()),
    answer: () => (document ??= openApi(routes())),
  })
}

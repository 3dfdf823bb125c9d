/** The table of routes: what the API serves, and what its OpenAPI document describes. */
import { documentRoute } from './document-route.ts'
import type { Route } from './route.ts'
import { accountRoutes } from './routes/accounts.ts'
import { alertRoutes } from './routes/alerts.ts'
import { accountingRoutes } from './routes/accounting.ts'
import { capRoutes } from './routes/caps.ts'
import { keyRoutes } from './routes/keys.ts'
import { modelRoutes } from './routes/models.ts'
import { personalRoutes } from './routes/personal.ts'
import { usageRoutes } from './routes/usage.ts'
import { videoRoutes } from './routes/videos.ts'

const described: readonly Route[] = [
  ...modelRoutes,
  ...keyRoutes,
  ...accountRoutes,
  ...capRoutes,
  ...alertRoutes,
  ...accountingRoutes,
  ...usageRoutes,
  ...videoRoutes,
  ...personalRoutes,
]

/** All routes. */
export const routes: readonly Route[] = [documentRoute(() => routes), ...described]

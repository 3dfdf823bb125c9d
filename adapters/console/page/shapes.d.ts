/** What the admin API answers, as far as it is not a type of the package. */
import type {
  AccountView,
  Alert,
  CapView,
  ConfigWarning,
  EntryView,
  KeyView,
  RegistryGroupView,
  RegistryModelView,
  LatencyPoint,
  RegistryPriceView,
  StatisticsRow,
  StoredDeployment,
  UsagePoint as Point,
  UsageSeries as Series,
  UsageView,
  VendorKeyView,
} from '../../../src/index.ts'

export type {
  AccountView,
  Alert,
  CapView,
  ConfigWarning,
  EntryView,
  KeyView,
  LatencyPoint,
  Point,
  Series,
  RegistryPriceView,
  StatisticsRow,
  StoredDeployment,
  VendorKeyView,
}

/** A count of requests, of sums and of their points. */
export type Unit = keyof Omit<Point, 'at' | 'requests' | 'incomplete' | 'cost'>

/** A cap, and the group for which it was listed. */
export interface GroupCap extends CapView {
  group: string
}

/** A model or a group, as it is set. */
export type RegistryDocument = Omit<Partial<RegistryModelView>, 'source'> &
  Pick<RegistryModelView, 'id' | 'source'> &
  Partial<Pick<RegistryGroupView, 'models'>>

export interface Me {
  role: 'admin' | 'account'
  account?: string
  readOnly: boolean
  groups: string[]
  currency?: string
  version: string
  /** What requests are counted in, in the order of columns. */
  units: Unit[]
  features: {
    accounts: boolean
    caps: boolean
    alerts: boolean
    usage: boolean
    keys: boolean
    registry: boolean
    keySearch: boolean
    vendorKeys: boolean
    videoSearch: boolean
    costs: boolean
    health?: boolean
    setup?: boolean
  }
  /** Whether calls cost something. Added by the page. */
  isBilled: boolean
}

export interface AttemptView {
  provider: string
  providerModel: string
  outcome: string
  status?: number
  code?: string
  startMs: number
  ms: number
}

export interface Call extends Omit<UsageView, 'outcome' | 'attemptLog'> {
  outcome: string
  attemptLog?: readonly AttemptView[]
}

export interface DeploymentView {
  provider: string
  model: string
  order?: number
  weight?: number
  price?: Price
  state?: string
}

export interface HealthView {
  ready: boolean
  draining: boolean
  stores: {
    store: string
    reachable: boolean
    required: boolean
    ms: number
    lastError?: { code: string; at: number }
  }[]
  openCalls: number
  holds: number
  queues: Record<string, number>
  droppedRecords: number
  failingStores: string[]
  tasksDue?: number
}

export type Price = Readonly<Record<string, unknown>>

export interface ModelView {
  id: string
  ownedBy: string
  displayName?: string
  created: number
  contextWindow?: number
  maxOutputTokens?: number
  groups: string[]
  price?: Price
  endpoints?: string[]
  deployments?: DeploymentView[]
}

export interface AuditView {
  number: number
  at: number
  action: string
  account?: string
  actor?: string
  address?: string
  target?: string
  before?: unknown
  after?: unknown
  erased?: boolean
}

export interface VideoView {
  id: string
  account: string
  group: string
  key?: string
  user?: string
  model: string
  state: 'pending' | 'processing' | 'completed' | 'failed'
  progress?: number
  prompt: string
  seconds?: number
  size?: string
  createdAt: number
  expiresAt: number
  finishedAt?: number
  error?: { code: string; message: string }
  provider?: string
  providerModel?: string
}

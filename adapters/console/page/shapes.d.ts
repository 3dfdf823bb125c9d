/** What the admin API answers, as far as it is not a type of the package. */
import type {
  CapView,
  LoggedContent,
  Offers,
  RegistryGroupView,
  RegistryModelView,
  UsagePoint,
  UsageView,
} from '../../../src/index.ts'

export type {
  AccountView,
  Alert,
  AuditView,
  CapView,
  ConfigWarning,
  EntryView,
  ExpiringCredit as CreditView,
  GatewayHealth as HealthView,
  KeyView,
  LatencyPoint,
  LoggedContent,
  OpenCallView,
  ReconciledSum as ReconciledSums,
  Reconciliation as Reconciled,
  RegistryPriceView,
  Replay,
  Statement,
  StatisticsRow,
  StoredDeployment,
  UsagePoint as Point,
  UsageSeries as Series,
  VendorKeyView,
  VideoView,
} from '../../../src/index.ts'

/** A piece of a turn. */
export type Block = NonNullable<LoggedContent['request']['conversation']>['turns'][number]['blocks'][number]

/** A count of requests, of sums and of their points. */
export type Unit = keyof Omit<
  UsagePoint,
  'at' | 'requests' | 'incomplete' | 'uncosted' | 'cost' | 'vendorCost' | 'margin'
>

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
  features: Omit<Offers, 'currency'>
  /** Whether calls cost something. Added by the page. */
  isBilled: boolean
}

export interface Call extends Omit<UsageView, 'outcome'> {
  outcome: string
}

export interface DeploymentView {
  provider: string
  model: string
  order?: number
  weight?: number
  price?: Price
  state?: string
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
  deployments?: DeploymentView[]
}

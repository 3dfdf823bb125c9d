/** The pages, in the order of the navigation. */
import { h } from './preact.js'
import { AccountPage } from './pages/account.js'
import { AccountsPage } from './pages/accounts.js'
import { AuditPage } from './pages/audit.js'
import { InvoicesPage } from './pages/invoices.js'
import { KeysPage } from './pages/keys.js'
import { ModelsPage } from './pages/models.js'
import { OverviewPage } from './pages/overview.js'
import { PlaygroundPage } from './pages/playground.js'
import { ReconcilePage } from './pages/reconcile.js'
import { RegistryPage } from './pages/registry.js'
import { RequestPage } from './pages/request.js'
import { RequestsPage } from './pages/requests.js'
import { SetupPage } from './pages/setup.js'
import { UsagePage } from './pages/usage.js'
import { VideosPage } from './pages/videos.js'

/** @import { VNode } from './preact.js' */
/** @import { Me } from './shapes.d.ts' */

/** @typedef {'overview' | 'usage' | 'requests' | 'keys' | 'accounts' | 'invoices' | 'reconcile' | 'models' | 'registry' | 'videos' | 'audit' | 'playground' | 'setup'} PageName */

/**
 * @typedef {object} Entry
 * @property {PageName} name
 * @property {(me: Me) => boolean} isOffered
 * @property {(me: Me, id: string | undefined) => VNode} page
 */

/** @type {readonly Entry[]} */
export const entries = [
  { name: 'overview', isOffered: hasUsage, page: () => h(OverviewPage, null) },
  { name: 'usage', isOffered: hasUsage, page: () => h(UsagePage, null) },
  {
    name: 'requests',
    isOffered: hasUsage,
    page: (_, id) => (id === undefined ? h(RequestsPage, null) : h(RequestPage, { id, key: id })),
  },
  {
    name: 'keys',
    isOffered: ({ role, features }) => (role === 'admin' ? features.keySearch : features.keys),
    page: () => h(KeysPage, null),
  },
  {
    name: 'accounts',
    isOffered: ({ role, features, isBilled }) => isBilled && (role === 'account' || features.accounts),
    page: ({ account: own }, id = own) => (id === undefined ? h(AccountsPage, null) : h(AccountPage, { id, key: id })),
  },
  { name: 'invoices', isOffered: (me) => me.isBilled && hasUsage(me), page: () => h(InvoicesPage, null) },
  {
    name: 'reconcile',
    isOffered: ({ readOnly, features }) => features.reconcile && !readOnly,
    page: () => h(ReconcilePage, null),
  },
  { name: 'models', isOffered: always, page: () => h(ModelsPage, null) },
  {
    name: 'registry',
    isOffered: ({ role, features }) => role === 'admin' && features.registry,
    page: () => h(RegistryPage, null),
  },
  { name: 'videos', isOffered: ({ features }) => features.videoSearch, page: () => h(VideosPage, null) },
  { name: 'audit', isOffered: ({ role }) => role === 'admin', page: () => h(AuditPage, null) },
  { name: 'playground', isOffered: always, page: () => h(PlaygroundPage, null) },
  { name: 'setup', isOffered: always, page: () => h(SetupPage, null) },
]

/** @param {Me} me */
function hasUsage({ features }) {
  return features.usage
}

function always() {
  return true
}

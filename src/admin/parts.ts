import type { Ledger } from '../billing/contract.ts'
import type { KeyStore } from '../auth/contract.ts'
import type { Catalogue } from '../models/access.ts'
import type { Guard } from '../store-access/guard.ts'
import type { UsageStore } from '../usage/contract.ts'

export interface AdminParts {
  readonly keys: KeyStore
  readonly ledger: Ledger | undefined
  readonly usage: UsageStore | undefined
  readonly catalogue: Catalogue
  readonly groups: readonly string[]
  readonly guard: (name: string) => Guard
  /** For calls that may read many rows. */
  readonly pageGuard: (name: string) => Guard
  readonly minimumTopUp: string
  readonly now: () => number
  /** Drops a key from this process's cache, by its hash. */
  readonly forget: (hash: string) => void
}

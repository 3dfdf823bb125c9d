import type { AuditStore } from '../../admin/audit/contract.ts'
import { GuardedStore } from '../../admin/guarded-store.ts'
import type { AdminServices } from '../../admin/services.ts'
import type { IdempotencyStore } from '../../admission/idempotency/contract.ts'
import { memoryAuditStore } from '../../admin/audit/memory.ts'
import type { KeyStore } from '../../callers/contract.ts'
import { keyRecord } from '../../callers/key.ts'
import { memoryKeyStore } from '../../callers/memory.ts'
import { combinedKeyStore } from '../../callers/combined-key-store.ts'
import type { Ledger } from '../../money/ledger/contract.ts'
import { memoryLedger } from '../../money/ledger/memory.ts'
import type { LimitStore } from '../../money/limits/contract.ts'
import { memoryLimitStore } from '../../money/limits/memory.ts'
import type { VendorKeyStore } from '../../models/vendor-keys/contract.ts'
import { memoryVendorKeyStore } from '../../models/vendor-keys/memory.ts'
import type { RegistryStore } from '../../models/stored/contract.ts'
import { memoryRegistryStore } from '../../models/stored/memory.ts'
import type { GatewayOptions, KeyOptions } from '../options/options.ts'
import type { ResponseStore } from '../../responses/contract.ts'
import { memoryResponseStore } from '../../responses/memory.ts'
import type { ContentKeyStore, ContentStore } from '../../observe/content/contract.ts'
import { memoryContentKeyStore, memoryContentStore } from '../../observe/content/memory.ts'
import type { UsageStore } from '../../observe/usage/contract.ts'
import { memoryUsageStore } from '../../observe/usage/memory.ts'
import type { Guard } from '../../records/guard.ts'
import { isStorable } from '../../records/storable-text.ts'

export interface Stores {
  readonly keys: KeyStore
  readonly limits: LimitStore
  /** Undefined without billing. */
  readonly ledger: Ledger | undefined
  /** Undefined if usage is not recorded. */
  readonly usage: UsageStore | undefined
  readonly responses: ResponseStore
  readonly audit: AuditStore
  /** Undefined if no content is kept. */
  readonly content: ContentStore | undefined
  readonly contentKeys: ContentKeyStore | undefined
  /** Undefined if there are none. */
  readonly vendorKeys: VendorKeyStore | undefined
  /** Undefined unless administration changes models. */
  readonly registry: RegistryStore | undefined
}

/** The stores that administration asks. */
export function guardedStores(
  { keys, ledger, usage, responses, vendorKeys }: Stores,
  idempotency: IdempotencyStore | undefined,
  guard: (name: string) => Guard,
  pageGuard: (name: string) => Guard,
): Pick<AdminServices, 'keys' | 'ledger' | 'usage' | 'responses' | 'vendorKeys' | 'idempotency'> {
  const of = <Store extends object>(store: Store | undefined, name: string, missing = '') =>
    new GuardedStore(store, missing, guard(name), pageGuard(name))
  return {
    keys: of(keys, 'the key store'),
    ledger: of(ledger, 'the ledger', 'Accounts need the option "billing".'),
    usage: of(usage, 'the usage store', 'Usage is not recorded: set the option "usage", "storage" or "billing".'),
    responses: of(responses, 'the response store'),
    vendorKeys: of(vendorKeys, 'the store of vendor keys', 'Vendor keys need the option "ownKeys.secrets".'),
    idempotency: of(idempotency, 'the idempotency store'),
  }
}

/** The stores of a gateway: those of `storage`, and memory stores for the rest. */
export function storesOf(options: GatewayOptions, now: () => number): Stores {
  const { storage, billing, usage, ownKeys, content } = options
  const record = usage?.record ?? (storage !== undefined || billing !== undefined)
  return {
    keys: keysOf(options, now()),
    limits: storage?.limits ?? memoryLimitStore(options.clock && { clock: options.clock }),
    ledger: billing && (storage?.ledger ?? memoryLedger({ clock: now })),
    usage: record ? (storage?.usage ?? memoryUsageStore()) : undefined,
    responses: storage?.responses ?? memoryResponseStore({ clock: now }),
    audit: storage?.audit ?? memoryAuditStore(),
    content: content && (content.store ?? storage?.content ?? memoryContentStore()),
    contentKeys: content && (content.keyStore ?? storage?.contentKeys ?? memoryContentKeyStore()),
    vendorKeys: storage?.vendorKeys ?? (ownKeys?.secrets && memoryVendorKeyStore()),
    registry: options.registry && (storage?.registry ?? memoryRegistryStore()),
  }
}

function keysOf({ keys = {}, storage }: GatewayOptions, now: number): KeyStore {
  const kept = storage?.keys
  const given = memoryKeyStore(recordsOf(keys, now))
  if (kept !== undefined && Object.keys(keys).length === 0) return kept
  return kept === undefined ? given : combinedKeyStore(given, kept)
}

function recordsOf(keys: Readonly<Record<string, KeyOptions>>, now: number) {
  return Object.entries(keys).map(([key, { group = 'default', account, ...rest }]) => {
    const record = keyRecord(key, { ...rest, group, account: account ?? '' }, now)
    return { ...record, account: account ?? record.id, source: 'options' as const }
  })
}

/** A response store with a timeout. Ids come from clients and vendors; those that no store can keep are treated as unknown. */
export function guardedResponses(store: ResponseStore, guard: Guard): ResponseStore {
  return {
    put: (record) => guard.call(() => store.put({ ...record, items: record.items.filter((id) => isStorable(id)) })),
    replace: (record) => guard.call(() => store.replace(record)),
    get: (account, id) => (isStorable(id) ? guard.call(() => store.get(account, id)) : undefined),
    holding: (account, itemId) => (isStorable(itemId) ? guard.call(() => store.holding(account, itemId)) : undefined),
    delete: (account, id) => (isStorable(id) ? guard.call(() => store.delete(account, id)) : false),
  }
}

/**
 * `modelhatch`: the gateway, its options, and the stores in memory. Providers are in `modelhatch/providers`, hosts in
 * `modelhatch/express` and others, what a store is made of in `modelhatch/stores`.
 */
export type { AccountAdmin, AccountView, Credited, EntryView, TopUp } from './admin/accounts.ts'
export type { Admin } from './admin/admin.ts'
export type { KeyAdmin, KeyChange, KeyRequest, KeyView } from './admin/keys.ts'
export type {
  StatisticsRow,
  UsageAdmin,
  UsageListQuestion,
  UsageScope,
  UsageSumsQuestion,
  UsageView,
} from './admin/usage.ts'
export type { Authenticate } from './auth/authenticate.ts'
export type { KeyCacheOptions } from './auth/cache.ts'
export type { Caller, KeyRecord, KeyStore } from './auth/contract.ts'
export { hashKey, mintKey, type MintedKey, type MintOptions } from './auth/key.ts'
export { memoryKeyStore } from './auth/memory.ts'
export type { DisconnectPolicy } from './billing/disconnect.ts'
export type { Ledger, Page, PageRequest, Settlement } from './billing/contract.ts'
export { memoryLedger, type MemoryLedgerOptions } from './billing/memory.ts'
export { formatMoney, parseMoney } from './billing/money.ts'
export type { BillingOptions } from './billing/options.ts'
export { Price, type PriceOptions, type Tiers } from './billing/price.ts'
export type { ChargeBasis, Receipt, Units } from './billing/receipt.ts'
export { GatewayError, type ErrorCode, type ErrorDetails } from './errors.ts'
export { createGateway, type CloseOptions, type Gateway } from './gateway.ts'
export type { Exchange, Reply, RequestBody, Sink, StreamBody } from './http/exchange.ts'
export type { Sizes } from './http/sizes.ts'
export type { Timeouts } from './http/timeouts.ts'
export type { IdempotencyStore } from './idempotency/contract.ts'
export { memoryIdempotencyStore, type MemoryIdempotencyStoreOptions } from './idempotency/memory.ts'
export type { IdempotencyOptions } from './idempotency/options.ts'
export type { LimitStore } from './limits/contract.ts'
export { memoryLimitStore, type MemoryLimitStoreOptions } from './limits/memory.ts'
export type { LimitOptions } from './limits/options.ts'
export type { Frequency, Rate, ScopedRate } from './limits/rate.ts'
export type { Group } from './models/access.ts'
export {
  landscapeVideo,
  portraitVideo,
  type Deployment,
  type ImageAbilities,
  type Model,
  type ModelRegistry,
  type RegistryModel,
} from './models/contract.ts'
export { imageModels } from './models/image-models.ts'
export type { ModelEntry, ModelOptions, RouteEntry } from './models/registry.ts'
export type { AttemptEvent, Failure } from './observing/observe.ts'
export type { Channels } from './options/channels.ts'
export type { VideoLimits } from './providers/video.ts'
export type { ResponseRecord, ResponseStore } from './responses/contract.ts'
export { memoryResponseStore, type MemoryResponseStoreOptions } from './responses/memory.ts'
export type { GatewayOptions, Hooks, KeyOptions, TaskOptions } from './options/options.ts'
export type { StorageBundle } from './options/storage.ts'
export type { BreakerOptions } from './routing/breaker.ts'
export type { RetryOptions } from './routing/perform.ts'
export type { TaskStore } from './tasks/contract.ts'
export { memoryTaskStore, type MemoryTaskStoreOptions } from './tasks/memory.ts'
export type { TaskEvent } from './tasks/parts.ts'
export type { StoredTask, VideoTask } from './tasks/task.ts'
export type { WebhookEndpoint, WebhookOptions } from './tasks/webhook.ts'
export type { UsageDimension, UsageRecord, UsageStore } from './usage/contract.ts'
export { memoryUsageStore, type MemoryUsageStoreOptions } from './usage/memory.ts'
export type { UsageOptions } from './usage/options.ts'

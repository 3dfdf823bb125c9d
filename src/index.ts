/**
 * `modelhatch`: the gateway, its options, and the stores in memory. Providers are in `modelhatch/providers`, hosts in
 * `modelhatch/express` and others, what a store is made of in `modelhatch/stores`.
 */
export type { AccountView, EntryView } from './admin/account-view.ts'
export type { AccountAdmin, AccountQuestion, Compaction, Credited } from './admin/accounts.ts'
export type { ReconcileQuestion, ReconciledDay, ReconciledSum, Reconciliation } from './admin/reconcile/reconcile.ts'
export type { Finding } from './admin/reconcile/compare.ts'
export type {
  Counts,
  DifferenceCause,
  VendorCharge,
  VendorReport,
  VendorReportReader,
  VendorUsage,
} from './admin/reconcile/contract.ts'
export {
  anthropicReport,
  csvReport,
  openaiReport,
  openrouterReport,
  type ReportOptions,
} from './admin/reconcile/readers.ts'
export type { AllowanceRequest, ExpiringCredit } from './admin/credits.ts'
export type { ComparisonQuestion, Difference } from './admin/ledger-comparison.ts'
export type { Admin, Offers } from './admin/admin.ts'
export type { ContentAdmin, Replay, ReplayQuestion } from './admin/content.ts'
export type { OpenCallView } from './admin/open-calls.ts'
export type { Statement, StatementQuestion } from './admin/statement.ts'
export type { CsvAdmin } from './admin/csv.ts'
export type { InvoiceItem, InvoiceLine } from './admin/invoice.ts'
export type { Remainder } from './admin/erase.ts'
export type { Erased, ExportOptions, PersonalItem } from './admin/personal.ts'
export type { CapAdmin, CapView } from './admin/caps.ts'
export type {
  CapAmountsView,
  CapLimitsChange,
  CapOverrideRequest,
  CapSubject,
  Refund,
  TopUp,
} from './admin/questions.ts'
export type { KeyAdmin, KeyChange, KeyRequest, KeySearch, KeysInUse, RotationOptions } from './admin/keys.ts'
export type { KeyView } from './admin/key-changes.ts'
export type {
  InvoiceQuestion,
  StatisticsRow,
  UsageAdmin,
  UsageListQuestion,
  UsageSumsQuestion,
  UsageView,
} from './admin/usage.ts'
export type { AlertAdmin, AlertListQuestion } from './admin/alerts.ts'
export type { NewVendorKey, VendorKeyAdmin, VendorKeyView } from './admin/vendor-keys.ts'
export type { VideoAdmin, VideoListQuestion, VideoView } from './admin/videos.ts'
export type { LatencyPoint, LatencyQuestion } from './admin/latency.ts'
export type { SeriesPeriod, UsagePoint, UsageSeries, UsageSeriesQuestion } from './admin/series.ts'
export type { TimeRange } from './admin/time-range.ts'
export type { UsageScope } from './admin/usage-scope.ts'
export type { Alert, BalanceAlert, CapAlert } from './admission/alerts/alert.ts'
export type { AlertWebhookOptions } from './admission/alerts/delivery.ts'
export type { Authenticate } from './callers/authenticate.ts'
export type { KeyCacheOptions } from './callers/cache.ts'
export type { Caller, KeyQuestion, KeyRecord, KeyStore } from './callers/contract.ts'
export type { KeyProperties } from './callers/key-fields.ts'
export { hashKey, mintKey, type MintedKey, type MintOptions } from './callers/key.ts'
export { memoryKeyStore } from './callers/memory.ts'
export type { BillingExport, ExportBatch, ExportedEntry, ExportState } from './money/export/contract.ts'
export { stripeMeter, type StripeMeterOptions } from './money/export/stripe.ts'
export type { Cap, RollingPeriod, ScopedCap } from './records/cap.ts'
export type { AttemptRecord } from './money/attempt-log.ts'
export type { DisconnectPolicy } from './money/disconnect.ts'
export type { Ledger, Page, PageRequest, Settlement } from './money/ledger/contract.ts'
export { memoryLedger, type MemoryLedgerOptions } from './money/ledger/memory.ts'
export { formatMoney, parseMoney } from './money/money.ts'
export type { BillingOptions, CostBounds } from './money/options.ts'
export { Price, type MaximumConsumption, type Consumption } from './money/prices/price.ts'
export type {
  LongPromptPrices,
  PriceOptions,
  TieredTokenPrices,
  Tiers,
  TokenPrices,
} from './money/prices/price-options.ts'
export type { Cost, CostOptions } from './money/prices/cost.ts'
export type { ListedModel, PriceTable, ServedModel, VendorModel } from './money/prices/price-table.ts'
export type { ConfigWarning, WarningCode } from './records/warning.ts'
export type { Charge, ChargeBasis, PriceSource, Receipt } from './money/receipt.ts'
export type { CountedPrices, CountedUnits, Units } from './wire/units.ts'
export type { AnsweredResponse } from './money/tally.ts'
export type { ChargeLine } from './money/prices/sum.ts'
export type {
  AnswerVerdict,
  AnswerWindow,
  Edit,
  Inspect,
  InspectedCall,
  Inspector,
  RequestVerdict,
} from './inspect/contract.ts'
export { limitTools, type ToolLimits } from './inspect/limit-tools.ts'
export { mask, type MaskOptions } from './inspect/mask/mask.ts'
export { maskPatterns, type MaskName, type MaskPattern } from './inspect/mask/patterns.ts'
export { askChat } from './endpoints/chat/ask-chat.ts'
export { moderate, type ModerateOptions } from './endpoints/moderate.ts'
export { defineEndpoint, type BodySchema, type EndpointDefinition } from './endpoints/define.ts'
export type { CallEndpoint, Endpoint, QueryEndpoint, Routed } from './endpoints/endpoint.ts'
export { GatewayError, type ErrorCode, type ErrorDetails, type Fault } from './errors.ts'
export type { CloseOptions } from './gateway/assembly/shut-down.ts'
export { createGateway, type Gateway } from './gateway.ts'
export type { Connection, Connections } from './http/connections.ts'
export { bytesReply, jsonReply } from './http/answers.ts'
export type {
  CallConnection,
  ConversationMemory,
  Exchange,
  Mountable,
  Reply,
  RequestBody,
  Sink,
  StreamBody,
} from './http/exchange.ts'
export type { WebhookEndpoint } from './http/signed-webhook.ts'
export type { Sizes } from './http/sizes.ts'
export type { Timeouts } from './http/timeouts.ts'
export type { CacheOptions } from './admission/cache/answer-cache.ts'
export type { IdempotencyStore } from './admission/idempotency/contract.ts'
export { memoryIdempotencyStore, type MemoryIdempotencyStoreOptions } from './admission/idempotency/memory.ts'
export type { IdempotencyOptions } from './admission/idempotency/idempotency.ts'
export type { LimitStore } from './money/limits/contract.ts'
export { memoryLimitStore, type MemoryLimitStoreOptions } from './money/limits/memory.ts'
export type { LimitOptions } from './money/limits/options.ts'
export type { Frequency, Rate, ScopedRate } from './records/rate.ts'
export type { Resealed } from './records/resealing.ts'
export type { Group, GroupOptions } from './models/group-fields.ts'
export type { DocumentAdmin, DocumentChange, VersionChoice } from './admin/registry/documents.ts'
export type { PriceAdmin, PriceRequest, RegistryPriceView } from './admin/registry/prices.ts'
export type { RegistryAdmin } from './admin/registry/registry-admin.ts'
export type { Origin, RegistryGroupView, RegistryModelView } from './admin/registry/views.ts'
export type { RegistryEntry, RegistryKind, RegistryStore } from './models/stored/contract.ts'
export type { StoredDeployment, StoredGroup, StoredModel, StoredPrice } from './models/stored/documents.ts'
export type { LiveRegistryOptions } from './models/stored/live-registry.ts'
export { memoryRegistryStore } from './models/stored/memory.ts'
export type { ImageAbilities, ModelProperties } from './models/model-fields.ts'
export {
  landscapeVideo,
  portraitVideo,
  type Deployment,
  type Model,
  type ModelRegistry,
  type RegistryDeployment,
  type RegistryModel,
} from './models/contract.ts'
export type { VendorKeyName, VendorKeyRecord, VendorKeyStore } from './models/vendor-keys/contract.ts'
export { memoryVendorKeyStore } from './models/vendor-keys/memory.ts'
export { imageModels } from './models/image-models.ts'
export type { OwnKey, OwnKeyMode, OwnKeyOptions, OwnKeyQuestion } from './models/own-key-options.ts'
export type { ModelEntries, ModelEntry, ModelOptions } from './models/model-options.ts'
export type { RouteEntry } from './models/route-entry.ts'
export type {
  AttemptListener,
  AttemptResult,
  AttemptStep,
  CallCosts,
  CallEnd,
  CallListener,
  ObservedAttempt,
  ObservedCall,
  ObservedModel,
  ObservedRequest,
  ObservedTask,
  StoreFailure,
  TaskChange,
  Telemetry,
} from './observe/contract.ts'
export type { LoggedAnswer, LoggedContent, LoggedMedia, LoggedRequest, Replayed } from './observe/content/content.ts'
export type { ContentCounts } from './observe/content/content-log.ts'
export type {
  ContentKey,
  ContentKeyStore,
  ContentOwner,
  ContentQuestion,
  ContentRecord,
  ContentStore,
} from './observe/content/contract.ts'
export { memoryContentKeyStore, memoryContentStore, type MemoryContentStoreOptions } from './observe/content/memory.ts'
export { objectContentStore, type ObjectBucket } from './observe/content/objects.ts'
export type { ContentOptions, Redact } from './observe/content/options.ts'
export type { Logger } from './observe/logger.ts'
export type { Actor, Change } from './admin/audit/change.ts'
export type { AuditHead, AuditQuestion, AuditVerification, AuditView } from './admin/audit/audit-admin.ts'
export { memoryAuditStore, type MemoryAuditStoreOptions } from './admin/audit/memory.ts'
export type { DeploymentHealth, GatewayHealth, StoreHealth, StoreName } from './observe/health.ts'
export type { AttemptEvent, Failure } from './observe/observe.ts'
export type { BreakerChange, GatewayState, QueueName } from './observe/gateway-state.ts'
export type { Channels } from './gateway/options/channels.ts'
export type { VideoLimits } from './providers/video.ts'
export type { ResponseRecord, ResponseStore } from './responses/contract.ts'
export { memoryResponseStore, type MemoryResponseStoreOptions } from './responses/memory.ts'
export type {
  AlertOptions,
  BatchOptions,
  GatewayOptions,
  Hooks,
  KeyOptions,
  TaskOptions,
} from './gateway/options/options.ts'
export type { StorageBundle } from './gateway/options/storage.ts'
export type { BreakerOptions } from './routing/breaker.ts'
export type { RetryOptions } from './routing/attempts.ts'
export type { FairnessOptions } from './routing/queue/queues.ts'
export type { TaskStore } from './tasks/contract.ts'
export { memoryTaskStore, type MemoryTaskStoreOptions } from './tasks/memory.ts'
export type { FileStorage } from './tasks/files/contract.ts'
export { fileDirectory } from './tasks/files/directory.ts'
export type { TaskEvent } from './tasks/services.ts'
export type { StoredTask, VideoTask } from './tasks/task.ts'
export type { WebhookOptions } from './tasks/webhook.ts'
export type { NamedUser, UsageDimension, UsageLine, UsageRecord, UsageStore } from './observe/usage/contract.ts'
export type { LargestRows, NamedRows, SeriesDimension, UsageMeasure } from './observe/usage/row-selection.ts'
export { memoryUsageStore, type MemoryUsageStoreOptions } from './observe/usage/memory.ts'
export type { RefusedOptions, UsageOptions } from './observe/usage/options.ts'

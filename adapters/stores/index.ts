/** `modelhatch/stores`: the contracts of stores, and functions for implementing them. Contract tests: `modelhatch/testing`. */
export type {
  AdmissionEnd,
  AdmissionStore,
  AdmissionVerdict,
  SliceDraw,
  SliceEnds,
  SliceWish,
} from '../../src/admission/contract.ts'
export { slicePrefix } from '../../src/admission/contract.ts'
export type { AuditEntry, AuditFilter, AuditStore } from '../../src/admin/audit/contract.ts'
export { auditMatches, erasedEntry } from '../../src/admin/audit/filter.ts'
export type { KeyQuestion, KeyRecord, KeyStore } from '../../src/callers/contract.ts'
export type { AttemptRecord } from '../../src/money/attempt-log.ts'
export { keySearched } from '../../src/callers/key-fields.ts'
export { pageOfKeys } from '../../src/callers/search.ts'
export type { Allotment, LedgerLots, LotState } from '../../src/money/lots/contract.ts'
export { takenOf } from '../../src/money/lots/lots.ts'
export type {
  Credit,
  CreditVerdict,
  Hold,
  HoldVerdict,
  Ledger,
  LedgerAccount,
  LedgerAudit,
  LedgerEntry,
  Page,
  PageRequest,
  Settlement,
  SettleVerdict,
} from '../../src/money/ledger/contract.ts'
export {
  type CapAmounts,
  type CapCharge,
  type CapClaim,
  type CapLimits,
  type CapMeasure,
  type CapOverride,
  type CapPeriod,
  type CapPeriods,
  type CapState,
  type LedgerCaps,
  type AlertThreshold,
  type Notice,
  capUseMs,
  noticeMs,
} from '../../src/money/caps/contract.ts'
export {
  capFits,
  capLimitsWith,
  capMeasures,
  capPeriodAt,
  countedPeriods,
  thresholdsReached,
} from '../../src/money/caps/period.ts'
export { comparing } from '../../src/records/compare.ts'
export { cursorOf, pageOf, readCursor, readNumberCursor } from '../../src/records/page.ts'
export type {
  IdempotencyClaim,
  IdempotencyEnd,
  IdempotencyStart,
  IdempotencyStore,
  IdempotencyVerdict,
  IdempotentAnswer,
} from '../../src/admission/idempotency/contract.ts'
export { expiredAttemptMs } from '../../src/admission/idempotency/contract.ts'
export {
  type LimitClaim,
  type LimitReturn,
  type LimitStore,
  type LimitVerdict,
  type PlaceRule,
  type RateRule,
  verdictAfter,
} from '../../src/money/limits/contract.ts'
export { accountOf } from '../../src/money/limits/bucket.ts'
export type { StorageBundle } from '../../src/gateway/options/storage.ts'
export type { RegistryEntry, RegistryKind, RegistryStore } from '../../src/models/stored/contract.ts'
export type { ResponseRecord, ResponseStore } from '../../src/responses/contract.ts'
export type { VendorKeyName, VendorKeyRecord, VendorKeyStore } from '../../src/models/vendor-keys/contract.ts'
export type { TaskClaim, TaskListOptions, TaskRecord, TaskStore } from '../../src/tasks/contract.ts'
export type {
  Anonymisation,
  DurationQuestion,
  Durations,
  NamedUser,
  UsageDimension,
  UsageFilter,
  UsageLine,
  UsageLineFilter,
  UsageLineSum,
  UsageQuestion,
  UsageRecord,
  UsageStore,
  UsageSummary,
} from '../../src/observe/usage/contract.ts'
export type { LargestRows, NamedRows, UsageMeasure } from '../../src/observe/usage/row-selection.ts'
export {
  summedAmounts,
  usageFields,
  usageFieldsWith,
  type SummedAmount,
  type UsageField,
} from '../../src/observe/usage/fields.ts'
export { usageUnits, type UsageUnits } from '../../src/observe/usage/units.ts'
export type {
  ContentKey,
  ContentKeyStore,
  ContentOwner,
  ContentQuestion,
  ContentRecord,
  ContentStore,
} from '../../src/observe/content/contract.ts'
export type { Json } from '../../src/wire/json.ts'
export { pollForChanges, type KeyChanges } from './polling.ts'
export { Sweep } from './sweep.ts'

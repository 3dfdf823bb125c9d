/** `modelhatch/testing`: test suites for stores and providers, and scripted vendors to test against. */
export { testAdmissionStore } from './admission-store.ts'
export { testAuditStore } from './audit-store.ts'
export { testContentKeyStore } from './content-key-store.ts'
export { testContentStore } from './content-store.ts'
export { testFileStorage } from './file-storage.ts'
export { testIdempotencyStore } from './idempotency-store.ts'
export { testKeyStore } from './key-store.ts'
export type { StoreKitOptions, TestFunction } from './kit.ts'
export { testLedger } from './ledger.ts'
export { testLimitStore } from './limit-store.ts'
export { anthropicDialect } from './dialects/anthropic.ts'
export type {
  Dialect,
  DialectRequest,
  DialectTurn,
  ErrorReply,
  ErrorKind,
  ReportedUsage,
  Script,
  ScriptedUsage,
} from './dialects/dialect.ts'
export { openaiDialect } from './dialects/openai.ts'
export { testProvider, type ProviderKitOptions } from './provider/provider.ts'
export { testRegistryStore } from './registry-store.ts'
export { testResponseStore } from './response-store.ts'
export { testTaskStore } from './task-store.ts'
export { testUsageStore } from './usage-store.ts'
export { testVendorKeyStore } from './vendor-key-store.ts'
export { scriptedVendor, type ScriptedVendor, type VendorReply, type VendorRequest } from './vendor.ts'

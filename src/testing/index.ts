/** `modelhatch/testing`: the contracts as runnable suites, and vendors to test against. */
export { testResponseStore } from './responses.ts'
export type { TestFunction } from './runner.ts'
export { testTaskStore, type TaskStoreKitOptions } from './task-store.ts'
export { scriptedVendor, type ScriptedVendor, type VendorReply } from './vendor.ts'

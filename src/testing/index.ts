/** `modelhatch/testing`: the contracts as runnable suites, and vendors to test against. */
export { testResponseStore, type TestFunction } from './responses.ts'
export { scriptedVendor, type ScriptedVendor, type VendorReply } from './vendor.ts'

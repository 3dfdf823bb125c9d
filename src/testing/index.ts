/** `modelhatch/testing`: the contracts as runnable suites, and vendors to test against. */
export { scriptedVendor, type ScriptedVendor, type VendorReply } from './vendor.ts'

/** Runs the test kit of each store of a bundle. The kit of task stores runs separately, because it needs a new store for each test. */
import type { StorageBundle } from '../../../src/index.ts'
import {
  testAdmissionStore,
  testAuditStore,
  testContentKeyStore,
  testContentStore,
  testIdempotencyStore,
  testKeyStore,
  testLedger,
  testLimitStore,
  testRegistryStore,
  testResponseStore,
  testUsageStore,
  testVendorKeyStore,
  type TestFunction,
} from '../../../src/testing/index.ts'

type Bundle = StorageBundle & Required<Pick<StorageBundle, 'keys' | 'limits' | 'ledger' | 'idempotency' | 'responses'>>

/** `other`: a second handle on the same data, as another process would open it. */
export function testStores(test: TestFunction, storage: Bundle, other: Bundle): void {
  testKeyStore(test, () => storage.keys, { reopen: () => other.keys })
  testLimitStore(test, () => storage.limits, { reopen: () => other.limits })
  testLedger(test, () => storage.ledger, { reopen: () => other.ledger })
  testIdempotencyStore(test, () => storage.idempotency, { reopen: () => other.idempotency })
  testResponseStore(test, () => storage.responses, { reopen: () => other.responses })
  const { usage, audit, content, contentKeys, vendorKeys, registry, admission } = storage
  if (admission !== undefined) testAdmissionStore(test, () => admission, { reopen: () => other.admission ?? admission })
  if (audit !== undefined) testAuditStore(test, () => audit, { reopen: () => other.audit ?? audit })
  if (content !== undefined) testContentStore(test, () => content, { reopen: () => other.content ?? content })
  if (contentKeys !== undefined)
    testContentKeyStore(test, () => contentKeys, { reopen: () => other.contentKeys ?? contentKeys })
  if (vendorKeys !== undefined)
    testVendorKeyStore(test, () => vendorKeys, { reopen: () => other.vendorKeys ?? vendorKeys })
  if (registry !== undefined) testRegistryStore(test, () => registry, { reopen: () => other.registry ?? registry })
  if (usage !== undefined) testUsageStore(test, () => usage, { reopen: () => other.usage ?? usage })
}

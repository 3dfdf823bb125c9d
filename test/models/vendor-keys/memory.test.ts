import { test } from 'vitest'
import { memoryVendorKeyStore } from '../../../src/models/vendor-keys/memory.ts'
import { testVendorKeyStore } from '../../../src/testing/index.ts'

testVendorKeyStore(test, memoryVendorKeyStore)

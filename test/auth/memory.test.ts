import { describe, test } from 'vitest'
import { memoryKeyStore } from '../../src/auth/memory.ts'
import { testKeyStore } from '../../src/testing/key-store.ts'

describe('the embedded store keeps its contract:', () => {
  testKeyStore(test, () => memoryKeyStore())
})

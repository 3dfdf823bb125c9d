import { describe, test } from 'vitest'
import { memoryKeyStore } from '../../src/callers/memory.ts'
import { testKeyStore } from '../../src/testing/key-store.ts'

describe('the memory store conforms to the contract:', () => {
  testKeyStore(test, () => memoryKeyStore())
})

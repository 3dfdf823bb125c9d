import { test } from 'vitest'
import { memoryContentKeyStore, memoryContentStore } from '../../../src/observe/content/memory.ts'
import { testContentKeyStore, testContentStore } from '../../../src/testing/index.ts'

testContentStore(test, () => memoryContentStore())
testContentKeyStore(test, memoryContentKeyStore)

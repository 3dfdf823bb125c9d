import { test } from 'vitest'
import { memoryRegistryStore } from '../../../src/models/stored/memory.ts'
import { testRegistryStore } from '../../../src/testing/index.ts'

const store = memoryRegistryStore()
testRegistryStore(test, () => store)

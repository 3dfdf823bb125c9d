import { afterAll, describe, test } from 'vitest'
import { postgres } from '../../adapters/postgres.ts'
import { testKeyStore, testLedger, testLimitStore, testUsageStore } from '../../src/testing/index.ts'
import { ownSchema } from './servers.ts'

const own = await ownSchema()
const { pool, schema, kind } = own
afterAll(() => own.drop())

const storage = postgres(pool, { schema })
/** As another process would have it. */
const other = postgres(pool, { schema })

describe(`${kind} keeps the contract of`, () => {
  testKeyStore(test, () => storage.keys, { reopen: () => other.keys })
  testLimitStore(test, () => storage.limits, { reopen: () => other.limits })
  testLedger(test, () => storage.ledger, { reopen: () => other.ledger })
  testUsageStore(test, () => storage.usage, { reopen: () => other.usage })
})

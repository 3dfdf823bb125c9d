import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { testStores } from './kits.ts'

const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
const file = join(folder, 'gateway.db')

const storage = sqlite(file)
/** A second handle on the same file, as another process would open it. */
const other = sqlite(file)
afterAll(async () => {
  await storage.close()
  await other.close()
  rmSync(folder, { recursive: true })
})

describe('SQLite conforms to the contract', () => {
  testStores(test, storage, other)
})

/** What reads a SQLite file in several turns of the event loop ends when it is closed, and does not open it again. */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { usageRecord } from '../../observe/usage/record.ts'

type Storage = ReturnType<typeof sqlite>

const count = 2_500
const folder = mkdtempSync(join(tmpdir(), 'closed-'))
const filled = join(folder, 'filled.db')

beforeAll(async () => {
  const { ledger, usage, close } = sqlite(filled)
  await ledger.credit({ account: 'acme', amount: 10_000_000n, reference: 'top-up' })
  for (let made = 0; made < count; made++) {
    await ledger.hold({ id: `call ${made}`, account: 'acme', amount: 7n, leaseMs: 60_000 })
    await ledger.settle({ id: `call ${made}`, account: 'acme', amount: 3n })
  }
  const records = Array.from({ length: count }, (_, index) =>
    usageRecord({ id: `req_${index}`, account: 'acme', model: `model ${index}`, startedAt: index * 1_000 }),
  )
  await usage.append(records)
  const failed = records.map((record) => ({
    ...record,
    id: `${record.id} failed`,
    account: 'other',
    outcome: 'failed' as const,
  }))
  await usage.append(failed)
  await close()
})
afterAll(() => rmSync(folder, { recursive: true }))

test.each<[string, (storage: Storage) => unknown]>([
  ['an audit', ({ ledger }) => ledger.audit()],
  ['sums of everything', ({ usage }) => usage.summarise({ by: ['model'] })],
  ['sums of single requests', ({ usage }) => usage.summarise({ by: ['model'], outcome: 'completed' })],
  ['a page that no request matches', ({ usage }) => usage.list({ account: 'acme', outcome: 'failed', limit: 100 })],
])('%s', async (_, ask) => {
  const file = join(folder, 'gateway.db')
  copyFileSync(filled, file)
  const storage = sqlite(file)
  await storage.keys.find('')
  const asked = Promise.resolve(ask(storage))
  const ended = expect(asked).rejects.toThrow('was closed')
  await storage.close()
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { force: true })
  await ended
  expect(existsSync(file)).toBe(false)
})

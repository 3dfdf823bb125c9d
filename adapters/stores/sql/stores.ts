/** What all SQL databases share: the stores of a bundle besides limits and ledger, and their tables. */
import type { IdempotencyStore, ResponseStore, StorageBundle } from '../index.ts'
import { auditTable, sqlAudit } from './audit.ts'
import { contentTables, sqlContent, sqlContentKeys } from './content.ts'
import { sqlChanges } from './changes.ts'
import { idempotencyTable, sqlIdempotency } from './idempotency.ts'
import { keysTable, sqlKeys } from './keys.ts'
import { noticesTable } from './notices.ts'
import { registryTable, sqlRegistry } from './registry.ts'
import { responsesTables, sqlResponses } from './responses.ts'
import type { Dialect, Sql } from './sql.ts'
import { sqlTasks, tasksTables } from './tasks.ts'
import { usageTables } from './usage-tables.ts'
import { sqlUsage } from './usage.ts'
import { sqlVendorKeys, vendorKeysTables } from './vendor-keys.ts'

type Shared = Required<Omit<StorageBundle, 'limits' | 'ledger' | 'admission' | 'close'>> & {
  readonly idempotency: Required<IdempotencyStore>
  readonly responses: Required<ResponseStore>
}

export function sqlStores(sql: Sql, responseAgeMs: number): Shared {
  const changes = sqlChanges(sql)
  return {
    keys: sqlKeys(sql, changes),
    usage: sqlUsage(sql),
    tasks: sqlTasks(sql),
    background: sqlTasks(sql, 'background'),
    batches: sqlTasks(sql, 'batches'),
    fileBatches: sqlTasks(sql, 'file_batches'),
    files: sqlTasks(sql, 'files'),
    idempotency: sqlIdempotency(sql),
    responses: sqlResponses(sql, responseAgeMs),
    audit: sqlAudit(sql),
    content: sqlContent(sql),
    contentKeys: sqlContentKeys(sql),
    vendorKeys: sqlVendorKeys(sql),
    registry: sqlRegistry(sql, changes),
  }
}

/** The definitions of their tables, and that of notices. */
export function sqlTables(dialect: Dialect): string[] {
  const shared = [keysTable, tasksTables, idempotencyTable, responsesTables, usageTables, noticesTable, auditTable]
  return [...shared, vendorKeysTables, registryTable, contentTables].map((table) => table(dialect))
}

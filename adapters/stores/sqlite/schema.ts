import { auditTable } from '../sql/audit.ts'
import { idempotencyTable } from '../sql/idempotency.ts'
import { keysTable } from '../sql/keys.ts'
import { noticesTable } from '../sql/notices.ts'
import { registryTable } from '../sql/registry.ts'
import { responsesTables } from '../sql/responses.ts'
import { tasksTable } from '../sql/tasks.ts'
import { usageTables } from '../sql/usage-tables.ts'
import { vendorKeysTables } from '../sql/vendor-keys.ts'
import { capsSchema } from './caps-schema.ts'
import { ledgerSchema } from './ledger.ts'
import { limitsSchema } from './limits.ts'
import { dialect } from './dialect.ts'

/** Deletes the items of a response with it. A trigger, because foreign keys may be off in a connection. */
const itemsGo = `
    CREATE TRIGGER modelhatch_responses_gone AFTER DELETE ON modelhatch_responses BEGIN
      DELETE FROM modelhatch_response_items WHERE account = old.account AND response = old.id
        AND item IN (SELECT value FROM json_each(old.items));
    END;
`

/** All tables of a new file. */
export const tables: string = [
  ...[
    keysTable,
    tasksTable,
    idempotencyTable,
    responsesTables,
    usageTables,
    noticesTable,
    auditTable,
    vendorKeysTables,
    registryTable,
  ].map((table) => table(dialect).replaceAll('@.', 'modelhatch_')),
  limitsSchema,
  ledgerSchema,
  capsSchema,
  itemsGo,
].join('')

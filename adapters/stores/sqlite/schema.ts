import { sqlTables } from '../sql/stores.ts'
import { capsSchema } from './caps-schema.ts'
import { ledgerSchema } from './ledger.ts'
import { limitsSchema } from './limits.ts'
import { sound } from '../sql/sql.ts'
import { dialect } from './dialect.ts'

/** Deletes the items of a response with it. A trigger, because foreign keys may be off in a connection. */
const itemsGo = `
    CREATE TRIGGER modelhatch_responses_gone AFTER DELETE ON modelhatch_responses BEGIN
      DELETE FROM modelhatch_response_items WHERE account = old.account AND response = old.id
        AND item IN (SELECT value FROM json_each(${sound('old.items')}));
    END;
`

/** All tables of a new file. */
export const tables: string = [
  ...sqlTables(dialect).map((table) => table.replaceAll('@.', 'modelhatch_')),
  limitsSchema,
  ledgerSchema,
  capsSchema,
  itemsGo,
].join('')

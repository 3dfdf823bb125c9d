/** All tables and functions of a new schema. */
import { sqlTables } from '../sql/stores.ts'
import { aloneSchema } from './admission-alone.ts'
import { admissionSchema } from './admission-schema.ts'
import { capsSchema } from './caps-schema.ts'
import { compactionSchema } from './compaction.ts'
import { endingSchema } from './ending-schema.ts'
import { ledgerSchema } from './ledger-schema.ts'
import { limitsSchema } from './limits.ts'
import { dialect } from './dialect.ts'
import { usageSchema } from './usage-schema.ts'

/**
 * The functions that a call waits for. The server ends them when they have waited too long for a lock: a client that gives up
 * only closes its connection, which the server does not notice while it waits. A timeout of the function, unlike one of the
 * session, also works through a transaction pooler. A statement may wait twice: for its turn at a row, and for the row. Both end
 * before another statement takes the place of one that was given up.
 */
const bounded = [
  'admit_calls',
  'admit_one',
  'end_calls',
  'open_account',
  'credit',
  'refund',
  'read_caps',
  'renew_holds',
  'renew_places',
  'compact_entries',
  'append_usage',
].map((name) => `ALTER FUNCTION @.${name} SET lock_timeout = '1400ms'`)

/** Deletes the items of a response with it. */
const itemsGo = `
    ALTER TABLE @.response_items ADD FOREIGN KEY (account, response) REFERENCES @.responses ON DELETE CASCADE;
    CREATE INDEX response_items_of ON @.response_items (account, response)`

/** Statements in which `@.` precedes every name in the schema. */
export const tables: string = [
  ...sqlTables(dialect),
  limitsSchema,
  usageSchema,
  capsSchema,
  ledgerSchema,
  compactionSchema,
  admissionSchema,
  aloneSchema,
  endingSchema,
  itemsGo,
  ...bounded,
].join(';\n')

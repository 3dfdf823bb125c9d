/** All tables and functions of a new schema. */
import { admissionSchema } from './admission-schema.ts'
import { capsSchema } from './caps-schema.ts'
import { compactionSchema } from './compaction.ts'
import { endingSchema } from './ending-schema.ts'
import { idempotencySchema } from './idempotency.ts'
import { keysSchema } from './keys.ts'
import { ledgerSchema } from './ledger-schema.ts'
import { limitsSchema } from './limits.ts'
import { responsesSchema } from './responses.ts'
import { tasksSchema } from './tasks.ts'
import { usageSchema } from './usage-schema.ts'

/** Statements in which `@.` precedes every name in the schema. */
export const tables: string = [
  keysSchema,
  limitsSchema,
  usageSchema,
  capsSchema,
  ledgerSchema,
  compactionSchema,
  admissionSchema,
  endingSchema,
  tasksSchema,
  idempotencySchema,
  responsesSchema,
].join(';\n')

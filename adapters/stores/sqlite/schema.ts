import { capsSchema } from './caps-schema.ts'
import { idempotencySchema } from './idempotency.ts'
import { keysSchema } from './keys.ts'
import { ledgerSchema } from './ledger.ts'
import { limitsSchema } from './limits.ts'
import { responsesSchema } from './responses.ts'
import { tasksSchema } from './tasks.ts'
import { usageSchema } from './usage-schema.ts'

/** All tables of a new file. */
export const tables: string = [
  keysSchema,
  limitsSchema,
  ledgerSchema,
  capsSchema,
  usageSchema,
  tasksSchema,
  idempotencySchema,
  responsesSchema,
].join('')

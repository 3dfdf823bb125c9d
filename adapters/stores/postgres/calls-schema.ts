import { admissionSchema } from './admission-schema.ts'
import { endingSchema } from './ending-schema.ts'
import { limitFunctions } from './limits.ts'
import type { Part } from './migration.ts'

/** The table and the functions for batches of calls. */
export const callsPart: Part = { name: 'calls', versions: [admissionSchema + endingSchema + limitFunctions] }

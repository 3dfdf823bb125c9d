/** What is installed for batches of calls. */
import { admissionSchema } from './admission-schema.ts'
import { endingSchema } from './ending-schema.ts'
import { limitFunctions } from './limits.ts'
import type { Part } from './migration.ts'

export const callsPart: Part = { name: 'calls', versions: [admissionSchema + endingSchema + limitFunctions] }

import { admissionSchema } from './admission-schema.ts'
import { endingSchema } from './ending-schema.ts'
import { limitFunctions } from './limits.ts'
import type { Part } from './migration.ts'
import { singleSchema } from './single-schema.ts'

/** The table and the functions for batches of calls, and for calls alone. */
export const callsPart: Part = {
  name: 'calls',
  versions: [admissionSchema + endingSchema + limitFunctions, [{ run: singleSchema }]],
}

/** Faults that are planted in the source one at a time, to see whether the simulation finds each. */
import { inAdmission } from './faults/admission.ts'
import type { Edits } from './faults/edits.ts'
import { inMoney } from './faults/money.ts'
import { inSlices } from './faults/slices.ts'
import { inSql } from './faults/sql.ts'
import { inTasks } from './faults/tasks.ts'
import type { Kind } from './stores.ts'

export interface Fault {
  readonly name: string
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** The stores that show it. */
  readonly kind: Kind
}

export const faults: readonly Fault[] = [
  ...faultsOf({ ...inMoney, ...inAdmission, ...inTasks }, 'memory'),
  ...faultsOf(inSlices, 'memory'),
  ...faultsOf(inSql, 'sqlite'),
]

function faultsOf(edits: Edits, kind: Kind): Fault[] {
  return Object.entries(edits).flatMap(([file, all]) =>
    all.map(([name, find, replace]) => ({ name, file, find, replace, kind })),
  )
}

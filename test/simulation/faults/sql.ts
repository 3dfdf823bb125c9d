/** Faults of the stores of SQLite and of the layer that all databases share. */
import type { Edits } from './edits.ts'

export const inSql: Edits = {
  'adapters/stores/sqlite/ledger.ts': [
    [
      'SQLite: a settlement does not return its hold',
      'change(database, account, held - charged)',
      'change(database, account, -charged)',
    ],
    [
      'SQLite: a hold that has ended is held again',
      'if (endOf(database, id) !== undefined) return { outcome',
      "if (id === '') return { outcome",
    ],
    ['SQLite: a lapsed hold can be renewed', 'AND account = ? AND ends > ?', 'AND account = ? AND ends > ? - 60000'],
  ],
  'adapters/stores/sqlite/admission.ts': [
    ['SQLite: an admission draws nothing', '        draw(database, claim)\n', ''],
    ['SQLite: an end gives nothing back', 'if (returned !== undefined) giveBack(database, returned)', 'void giveBack'],
    ['SQLite: limits do not count for admissions', 'if (!verdict.admitted) return { limits: verdict }', ''],
  ],
  'adapters/stores/sql/tasks.ts': [
    ['SQL: a task is replaced whatever its version', ' AND version + 1 = :version`', '`'],
    ['SQL: a task is claimed in spite of its lease', 'due_at <= :now AND leased_until <= :now', 'due_at <= :now'],
  ],
  'adapters/stores/sql/idempotency.ts': [
    [
      'SQL: an attempt ends the key of another',
      'AND attempt = :attempt AND NOT ended',
      'AND NOT ended AND (attempt = :attempt OR true)',
    ],
  ],
}

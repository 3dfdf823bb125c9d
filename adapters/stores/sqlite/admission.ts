import { verdictAfter, type AdmissionStore, type AdmissionVerdict, type Ledger, type LimitStore } from '../index.ts'
import type { Database } from './database.ts'
import { endHold, hold } from './ledger.ts'
import { check, draw, giveBack } from './limits.ts'

/** Limits and ledger of a request, changed in one transaction. */
export function sqliteAdmission(database: Database, limits: LimitStore, ledger: Ledger): AdmissionStore {
  return {
    limits,
    ledger,
    admit: (claim, wanted) =>
      database.transaction((): AdmissionVerdict => {
        const verdict = check(database, claim)
        if (!verdict.admitted) return { limits: verdict }
        const held = hold(database, wanted)
        if (held.outcome !== 'held') return { limits: verdict, hold: held }
        draw(database, claim)
        return { limits: verdictAfter(claim, verdict), hold: held }
      }),
    finish: (endings) =>
      database.transaction(() => {
        for (const { returned, end } of endings) {
          if (returned !== undefined) giveBack(database, returned)
          if (end !== undefined) endHold(database, end)
        }
      }),
  }
}

/** Limits and ledger of a call in one round trip, before it and after it. */
import {
  verdictAfter,
  type HoldVerdict,
  type JointStore,
  type JointVerdict,
  type Ledger,
  type LimitStore,
  type LimitVerdict,
} from '../index.ts'
import type { Database } from './database.ts'
import { holdVerdict } from './ledger.ts'
import type { Part } from './migration.ts'

/** Everybody locks buckets first and accounts then, each in the order of their names: nobody waits in a circle. */
export const jointPart: Part = {
  name: 'joint',
  versions: [
    `
    CREATE FUNCTION @.admit(claim jsonb, hold_id text, of_account text, want bigint, lease_ms float8) RETURNS jsonb
    LANGUAGE plpgsql AS $f$
    DECLARE
      verdict jsonb := @.check_claim(claim);
      held jsonb;
    BEGIN
      IF NOT (verdict->>'admitted')::bool THEN
        RETURN jsonb_build_object('limits', verdict);
      END IF;
      held := @.hold(hold_id, of_account, want, lease_ms);
      IF held->>'outcome' = 'held' THEN
        PERFORM @.draw_claim(claim);
      END IF;
      RETURN jsonb_build_object('limits', verdict, 'hold', held);
    END
    $f$;

    CREATE FUNCTION @.finish(returns jsonb, ends jsonb) RETURNS void LANGUAGE plpgsql AS $f$
    DECLARE
      ending jsonb;
    BEGIN
      PERFORM @.give(returns);
      FOR ending IN SELECT * FROM jsonb_array_elements(ends) e ORDER BY e->>'account' COLLATE "C" LOOP
        PERFORM @.end_hold(ending->>'id', ending->>'account', (ending->>'amount')::bigint);
      END LOOP;
    END
    $f$;
    `,
  ],
}

interface Told {
  readonly limits: LimitVerdict
  readonly hold?: { readonly outcome: HoldVerdict['outcome']; readonly balance: string }
}

export function postgresJoint(database: Database, limits: LimitStore, ledger: Ledger): JointStore {
  return {
    limits,
    ledger,
    async admit(claim, { id, account, amount, leaseMs }): Promise<JointVerdict> {
      const values = [JSON.stringify(claim), id, account, String(amount), leaseMs]
      const told = await database.call<Told>('admit', ...values)
      if (told.hold === undefined) return { limits: told.limits }
      const hold = holdVerdict(told.hold)
      return { limits: hold.outcome === 'held' ? verdictAfter(claim, told.limits) : told.limits, hold }
    },
    async finish(endings) {
      const returns = endings.flatMap(({ returned }) => returned ?? [])
      const ends = endings.flatMap(({ end }) => (end === undefined ? [] : [{ ...end, amount: end.amount?.toString() }]))
      await database.call('finish', JSON.stringify(returns), JSON.stringify(ends))
    },
  }
}

/** Applies the limits and the ledger together: one round trip before a call, and one after it. */
import type { JointStore, JointVerdict, Ledger, LimitStore } from '../index.ts'
import type { Calls } from './calls.ts'
import type { Part } from './migration.ts'

/**
 * Functions that gateways of version 1 call. As in every function, buckets are locked before accounts, each sorted by name,
 * so that no two transactions deadlock.
 */
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

/** The joint store of a schema. `finish` rejects if any of its endings fails, after all have been tried. */
export function postgresJoint(calls: Calls, limits: LimitStore, ledger: Ledger): JointStore {
  return {
    limits,
    ledger,
    admit: async (claim, hold) => (await calls.admit({ claim, hold })) as JointVerdict,
    async finish(endings) {
      const ended = await Promise.allSettled(endings.map((ending) => calls.end(ending)))
      const failure = ended.find((each) => each.status === 'rejected')
      if (failure !== undefined) throw failure.reason
    },
  }
}

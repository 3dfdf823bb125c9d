/** Limits: one row per bucket, and one per concurrency slot in use. */
import type { LimitStore } from '../index.ts'
import { batchedLimits } from '../batched-admission.ts'
import { inParts } from '../batches.ts'
import type { Calls } from './calls.ts'
import type { Database } from './database.ts'

/**
 * The tables are unlogged, so that calls do not wait for the disk; after a crash of the database server, all buckets are
 * full and all slots are free. Sets are joined as arrays: the planner expects few elements of an array and looks up each, but
 * for a set it would read all of `places`.
 *
 * `held` is the number of places in use, so that no call counts them; it is only written under the lock of the bucket. From
 * `soonest`, the earliest end of a lease, it may include expired leases: they are removed when they would cause a rejection, and
 * otherwise by the first call at least a second later. A slice holds `count` places.
 */
export const limitsSchema: string = `
    CREATE UNLOGGED TABLE @.buckets (
      name text COLLATE "C" PRIMARY KEY,
      used float8 NOT NULL DEFAULT 0,
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      held int NOT NULL DEFAULT 0,
      soonest timestamptz
    ) WITH (fillfactor = 50);

    CREATE UNLOGGED TABLE @.places (
      bucket text COLLATE "C" NOT NULL,
      holder text COLLATE "C" NOT NULL,
      ends timestamptz NOT NULL,
      count int NOT NULL DEFAULT 1,
      PRIMARY KEY (bucket, holder)
    );

    CREATE FUNCTION @.renew_places(holders jsonb, lease_ms float8) RETURNS void LANGUAGE plpgsql AS $f$
    DECLARE
      until timestamptz := clock_timestamp() + lease_ms * interval '1 millisecond';
      names text[] := ARRAY(
        SELECT DISTINCT b FROM jsonb_array_elements(holders) h, jsonb_array_elements_text(h->'places') b
      );
      sooner text[] := ARRAY(SELECT name FROM @.buckets WHERE name = ANY (names) AND soonest > until);
    BEGIN
      IF cardinality(sooner) > 0 THEN
        PERFORM FROM @.buckets WHERE name = ANY (sooner) ORDER BY name FOR UPDATE;
        UPDATE @.buckets SET soonest = least(soonest, until) WHERE name = ANY (sooner);
      END IF;
      -- Skips places that are locked, because they are being returned: waiting for them could deadlock.
      UPDATE @.places o SET ends = until FROM (
        SELECT p.ctid FROM unnest(
          ARRAY(SELECT b FROM jsonb_array_elements(holders) h, jsonb_array_elements_text(h->'places') b),
          ARRAY(SELECT h->>'id' FROM jsonb_array_elements(holders) h, jsonb_array_elements_text(h->'places'))
        ) AS kept (bucket, holder)
        JOIN @.places p ON p.bucket = kept.bucket AND p.holder = kept.holder AND p.ends > clock_timestamp()
        FOR UPDATE OF p SKIP LOCKED
      ) n WHERE o.ctid = n.ctid;
    END
    $f$;
`

/** The limit store of a schema. Claims are taken and returned in the batches of `calls`. */
export function postgresLimits(database: Database, calls: Calls): LimitStore {
  return batchedLimits(calls, async (holders, leaseMs) => {
    const named = holders.map(({ id, places }) => ({ id, places }))
    await inParts(named, async (part) => database.call('renew_places', JSON.stringify(part), leaseMs))
  })
}

/** The SQL functions that admit and end one call: short forms of `admit_calls` and `end_calls` for the common cases. */
import { plannedOnce } from './columns.ts'

/** Locks the rows of `buckets`, sorted by name, and reads them into `used` and `at`. Returns NULL if one is missing. */
const lockingKnownBuckets = `
      IF cardinality(buckets) > 0 THEN
        SELECT array_agg(l.used ORDER BY l.i), array_agg(date_part('epoch', l.at) * 1000 ORDER BY l.i) INTO used, at FROM (
          SELECT n.i, o.used, o.at FROM unnest(buckets) WITH ORDINALITY n (name, i) JOIN @.buckets o ON o.name = n.name
          ORDER BY o.name FOR UPDATE OF o
        ) l;
        IF cardinality(used) IS DISTINCT FROM cardinality(buckets) THEN
          RETURN NULL;
        END IF;
      END IF;`

/**
 * Both functions return NULL, and have changed nothing, if a call needs what only the functions for batches do: a row that
 * does not exist yet, a repetition, expired leases, caps, or more money than the account has. `buckets` are those of rates,
 * then those of slots; `costs`, `per_ms` and `bursts` end before the slots, `places` is NULL for rates. Without money, `payer`
 * is NULL. Locks are taken in the same order as there.
 */
export const singleSchema: string = `
    CREATE OR REPLACE FUNCTION @.admit_call(buckets text[], costs float8[], per_ms float8[], bursts float8[], places int[],
      claim text, claim_ms float8, hold text, payer text, amount bigint, hold_ms float8, durable bool) RETURNS json
    LANGUAGE plpgsql ${plannedOnce} AS $f$
    #variable_conflict use_variable
    DECLARE
      used float8[];
      at float8[];
      room float8[];
      fits bool := true;
      is_sure bool;
      remaining bigint;
      unlimited bool;
      moment timestamptz;
      moment_ms float8;
      until timestamptz;
    BEGIN
      ${lockingKnownBuckets}
      IF payer IS NOT NULL THEN
        SELECT o.balance - amount, o.unlimited INTO remaining, unlimited FROM @.accounts o WHERE o.id = payer FOR UPDATE OF o;
        IF remaining IS NULL OR (remaining < 0 AND NOT unlimited) THEN
          RETURN NULL;
        END IF;
      END IF;
      moment := clock_timestamp();
      IF cardinality(buckets) > 0 THEN
        moment_ms := date_part('epoch', moment) * 1000;
        FOR i IN 1..cardinality(costs) LOOP
          room[i] := bursts[i] - greatest(0, used[i] - greatest(0, moment_ms - at[i]) * per_ms[i]);
          fits := fits AND room[i] >= costs[i];
        END LOOP;
        IF cardinality(places) > 0 THEN
          -- At a limit, an expired lease may still be counted.
          SELECT room || array_agg(t.free::float8 ORDER BY t.i), fits AND bool_and(t.free >= 1),
            bool_and(t.free IS NOT NULL AND (t.free >= 1 OR coalesce(t.soonest > moment, false))) INTO room, fits, is_sure
          FROM (
            SELECT n.i, n.places - s.held AS free, s.soonest FROM unnest(buckets, places) WITH ORDINALITY n (name, places, i)
            LEFT JOIN @.slots s ON s.bucket = n.name AND coalesce(s.soonest > moment - interval '1 second', true)
              AND NOT EXISTS (SELECT FROM @.places p WHERE p.bucket = n.name AND p.holder = claim)
            WHERE n.places IS NOT NULL
          ) t;
          IF NOT is_sure THEN
            RETURN NULL;
          END IF;
        END IF;
        IF NOT fits THEN
          RETURN json_build_object('admitted', false, 'room', room);
        END IF;
      END IF;
      IF payer IS NOT NULL THEN
        INSERT INTO @.holds (id, account, amount, ends)
        SELECT hold, payer, amount, moment + hold_ms * interval '1 millisecond'
        WHERE NOT EXISTS (SELECT FROM @.entries e WHERE e.kind <> 'credit' AND e.reference = hold)
          AND NOT EXISTS (SELECT FROM @.holds h WHERE h.id = hold);
        IF NOT FOUND THEN
          RETURN NULL;
        END IF;
        IF amount > 0 THEN
          UPDATE @.accounts o SET balance = remaining WHERE o.id = payer;
        END IF;
      END IF;
      IF cardinality(costs) > 0 THEN
        UPDATE @.buckets o SET used = n.burst - n.room + n.cost, at = moment
        FROM unnest(buckets, costs, bursts, room) n (name, cost, burst, room) WHERE n.cost IS NOT NULL AND o.name = n.name;
      END IF;
      IF cardinality(places) > 0 THEN
        until := moment + claim_ms * interval '1 millisecond';
        UPDATE @.slots o SET held = o.held + 1, soonest = least(o.soonest, until)
        FROM unnest(buckets, places) n (name, places) WHERE n.places IS NOT NULL AND o.bucket = n.name;
        INSERT INTO @.places (bucket, holder, ends)
        SELECT n.name, claim, until FROM unnest(buckets, places) n (name, places) WHERE n.places IS NOT NULL;
      END IF;
      IF NOT durable THEN
        PERFORM set_config('synchronous_commit', 'off', true);
      END IF;
      RETURN json_build_object('admitted', true, 'room', room, 'balance', remaining::text);
    END
    $f$;

    CREATE OR REPLACE FUNCTION @.end_call(buckets text[], costs float8[], per_ms float8[], holder text, hold text,
      payer text, amount bigint) RETURNS json
    LANGUAGE plpgsql ${plannedOnce} AS $f$
    #variable_conflict use_variable
    DECLARE
      used float8[];
      at float8[];
      charged bigint := coalesce(amount, 0);
      overage bigint := charged;
      back bigint;
      live bool;
      moment timestamptz;
      moment_ms float8;
    BEGIN
      ${lockingKnownBuckets}
      IF payer IS NOT NULL THEN
        PERFORM FROM @.accounts WHERE id = payer FOR UPDATE;
        IF NOT FOUND THEN
          RETURN NULL;
        END IF;
        IF EXISTS (SELECT FROM @.entries e WHERE e.kind <> 'credit' AND e.reference = hold)
          OR EXISTS (SELECT FROM @.cap_holds c WHERE c.hold = hold) THEN
          RETURN NULL;
        END IF;
      END IF;
      moment := clock_timestamp();
      IF cardinality(buckets) > coalesce(cardinality(costs), 0) THEN
        WITH gone AS (
          DELETE FROM @.places o USING unnest(buckets) n (name) WHERE o.bucket = n.name AND o.holder = holder
          RETURNING o.bucket
        )
        UPDATE @.slots o SET held = o.held - 1 FROM gone n WHERE o.bucket = n.bucket;
      END IF;
      IF cardinality(costs) > 0 THEN
        moment_ms := date_part('epoch', moment) * 1000;
        UPDATE @.buckets o
        SET used = greatest(0, greatest(0, n.used - greatest(0, moment_ms - n.at) * n.per_ms) + n.cost), at = moment
        FROM unnest(buckets, costs, per_ms, used, at) n (name, cost, per_ms, used, at)
        WHERE n.cost IS NOT NULL AND o.name = n.name;
      END IF;
      IF payer IS NOT NULL THEN
        DELETE FROM @.holds o WHERE o.id = hold AND o.account = payer RETURNING o.amount, o.ends > moment INTO back, live;
        IF live THEN
          overage := greatest(0, charged - back);
        END IF;
        INSERT INTO @.entries (account, kind, reference, amount, overage)
        VALUES (payer, CASE WHEN amount IS NULL THEN 'release' ELSE 'settle' END, hold, -charged, overage);
        UPDATE @.accounts o SET balance = o.balance + coalesce(back, 0) - charged WHERE o.id = payer;
      END IF;
      PERFORM set_config('synchronous_commit', 'off', true);
      RETURN json_build_object('charged', charged::text, 'overage', overage::text);
    END
    $f$;

    -- Planned once: with few rows the planner would read the whole table, and keep doing so while it grows.
    CREATE OR REPLACE FUNCTION @.flush(ids jsonb) RETURNS bool LANGUAGE plpgsql ${plannedOnce} AS $f$
    DECLARE
      ended text[] := ARRAY(SELECT jsonb_array_elements_text(ids));
    BEGIN
      PERFORM pg_logical_emit_message(true, 'modelhatch', '');
      RETURN (SELECT count(*) FROM @.entries WHERE kind <> 'credit' AND reference = ANY (ended)) = cardinality(ended);
    END
    $f$;
`

/** The SQL functions that end a batch of calls: they return claims to the limits, and settle or release holds. */
import { endingTypes, parametersOf, plannedOnce } from './columns.ts'

/**
 * The parameters are columns, as in `admit_calls`; each hold is in a batch at most once. An ending is applied even if its
 * hold is unknown, because a call that took place is charged. A hold whose lease has expired is returned to the balance, and
 * covers none of the charge.
 */
export const endingSchema: string = `
    CREATE FUNCTION @.end_calls(${parametersOf(endingTypes)}) RETURNS jsonb
    LANGUAGE plpgsql ${plannedOnce} AS $f$
    #variable_conflict use_variable
    DECLARE
      used float8[] := array_fill(0, ARRAY[cardinality(buckets)]);
      rested float8[] := used;
      -- Per hold: the charge, the part of it that the hold does not cover, and the amount returned to the balance.
      outcomes text[] := array_fill('settled'::text, ARRAY[cardinality(ids)]);
      charged bigint[] := ARRAY(SELECT coalesce(n, 0) FROM unnest(amounts) WITH ORDINALITY a (n, i) ORDER BY i);
      overages bigint[] := charged;
      back bigint[] := array_fill(0, ARRAY[cardinality(ids)]);
      moment timestamptz;
      r record;
      b int;
    BEGIN
      IF cardinality(buckets) > 0 THEN
        PERFORM @.lock_buckets(buckets);
      END IF;
      IF cardinality(accounts) > 0 THEN
        INSERT INTO @.accounts (id) SELECT n FROM unnest(accounts) n
        WHERE NOT EXISTS (SELECT FROM @.accounts WHERE id = n) ORDER BY n COLLATE "C" ON CONFLICT DO NOTHING;
        PERFORM FROM @.accounts WHERE id = ANY (accounts) ORDER BY id FOR UPDATE;
      END IF;
      moment := clock_timestamp();
      IF cardinality(holders) > 0 THEN
        WITH gone AS (
          DELETE FROM @.places o USING unnest(slot_bucket, holders) n (b, holder)
          WHERE o.bucket = buckets[n.b] AND o.holder = n.holder RETURNING o.bucket
        )
        UPDATE @.slots o SET held = o.held - n.count FROM (SELECT bucket, count(*) FROM gone GROUP BY bucket) n
        WHERE o.bucket = n.bucket;
      END IF;
      IF cardinality(costs) > 0 THEN
        FOR r IN
          SELECT n.i, o.used, extract(epoch FROM moment - o.at)::float8 * 1000 AS ms
          FROM unnest(buckets) WITH ORDINALITY n (name, i) JOIN @.buckets o ON o.name = n.name
        LOOP
          used[r.i] := r.used;
          rested[r.i] := greatest(0, r.ms);
        END LOOP;
        FOR i IN 1..cardinality(costs) LOOP
          b := rate_bucket[i];
          used[b] := greatest(0, greatest(0, used[b] - rested[b] * per_ms[i]) + costs[i]);
          rested[b] := 0;
        END LOOP;
        UPDATE @.buckets o SET used = n.used, at = moment FROM unnest(buckets, used, rested) n (name, used, rested)
        WHERE n.rested = 0 AND o.name = n.name;
      END IF;
      IF cardinality(ids) > 0 THEN
        FOR r IN
          SELECT n.i, o.kind, o.amount, o.overage FROM unnest(ids) WITH ORDINALITY n (id, i)
          JOIN @.entries o ON o.kind <> 'credit' AND o.reference = n.id
        LOOP
          outcomes[r.i] := CASE r.kind WHEN 'settle' THEN 'already' ELSE 'released' END;
          charged[r.i] := -r.amount;
          overages[r.i] := r.overage;
        END LOOP;
        FOR r IN
          DELETE FROM @.holds o USING unnest(ids, payers, outcomes) WITH ORDINALITY n (id, payer, outcome, i)
          WHERE n.outcome = 'settled' AND o.id = n.id AND o.account = accounts[n.payer]
          RETURNING n.i, o.amount, o.ends > moment AS live
        LOOP
          back[r.i] := r.amount;
          IF r.live THEN
            overages[r.i] := greatest(0, charged[r.i] - r.amount);
          END IF;
        END LOOP;
        INSERT INTO @.entries (account, kind, reference, amount, overage)
        SELECT accounts[n.payer], CASE WHEN n.amount IS NULL THEN 'release' ELSE 'settle' END, n.id, -n.charged, n.overage
        FROM unnest(ids, payers, amounts, outcomes, charged, overages) WITH ORDINALITY
          n (id, payer, amount, outcome, charged, overage, i)
        WHERE n.outcome = 'settled' ORDER BY n.i;
        UPDATE @.accounts o SET balance = o.balance + n.by FROM (
          SELECT s.payer, sum(s.back - s.charged) AS by
          FROM unnest(payers, outcomes, back, charged) s (payer, outcome, back, charged)
          WHERE s.outcome = 'settled' GROUP BY s.payer
        ) n WHERE o.id = accounts[n.payer];
      END IF;
      PERFORM set_config('synchronous_commit', 'off', true);
      RETURN jsonb_build_object('outcomes', outcomes, 'charged', charged::text[], 'overages', overages::text[]);
    END
    $f$;

    -- Commits to disk, with all commits before it. Returns whether the ends of all holds with these ids are recorded.
    CREATE FUNCTION @.flush(ids jsonb) RETURNS bool LANGUAGE plpgsql AS $f$
    DECLARE
      ended text[] := ARRAY(SELECT jsonb_array_elements_text(ids));
    BEGIN
      PERFORM pg_logical_emit_message(true, 'modelhatch', '');
      RETURN (SELECT count(*) FROM @.entries WHERE kind <> 'credit' AND reference = ANY (ended)) = cardinality(ended);
    END
    $f$;
`

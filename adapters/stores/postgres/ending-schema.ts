/** What ends a batch of calls in SQL: returns claims to the limits, settles or releases holds, and adds the usage of calls. */
import {
  capVariables,
  countingSettlements,
  crossingLevels,
  lockingCaps,
  recordingNotices,
  releasingCaps,
} from './ending-caps.ts'
import { callOf, endingTypes, parametersOf, plannedOnce, relaxing, stillAwaited } from './batch-columns.ts'
import { bucketVariables, lockingBuckets, writingBuckets } from './buckets.ts'
import { endingSlices } from './ending-slices.ts'

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
      ${bucketVariables}
      -- Per hold: the charge, the part of it that the hold does not cover, and the amount returned to the balance.
      outcomes text[] := array_fill('settled'::text, ARRAY[cardinality(ids)]);
      charged bigint[] := array_replace(amounts, NULL, 0::bigint);
      overages bigint[] := charged;
      back bigint[] := array_fill(0, ARRAY[cardinality(ids)]);
      -- Per account: what its balance changes by.
      changes bigint[] := array_fill(0, ARRAY[cardinality(accounts)]);
      ${capVariables}
      moment timestamptz;
      moment_ms float8;
      r record;
      b int;
      drawn text[];
    BEGIN
      ${lockingBuckets}
      WHILE cardinality(accounts) > 0 LOOP
        PERFORM FROM @.accounts WHERE id = ANY (accounts)
          AND (SELECT count(*) FROM @.accounts WHERE id = ANY (accounts)) = cardinality(accounts) ORDER BY id FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO @.accounts (id) SELECT n FROM unnest(accounts) n ORDER BY n COLLATE "C" ON CONFLICT DO NOTHING;
      END LOOP;
      IF cardinality(accounts) > 0 THEN
        ${lockingCaps}
      END IF;
      ${stillAwaited}
      moment := clock_timestamp();
      moment_ms := date_part('epoch', moment) * 1000;
      IF cardinality(draw_ids) > 0 THEN
        ${endingSlices}
      END IF;
      IF cardinality(holders) > 0 THEN
        FOR i IN 1..cardinality(holders) LOOP
          DELETE FROM @.places WHERE bucket = buckets[slot_bucket[i]] AND holder = holders[i] RETURNING places.count INTO b;
          IF FOUND THEN
            held[slot_bucket[i]] := held[slot_bucket[i]] - b;
            touched[slot_bucket[i]] := true;
          END IF;
        END LOOP;
      END IF;
      IF cardinality(costs) > 0 THEN
        FOR i IN 1..cardinality(costs) LOOP
          b := rate_bucket[i];
          used[b] := greatest(0, greatest(0, used[b] - greatest(0, moment_ms - at[b]) * per_ms[i]) + costs[i]);
          at[b] := moment_ms;
          touched[b] := true;
        END LOOP;
      END IF;
      IF true = ANY (touched) THEN
        ${writingBuckets}
      END IF;
      IF cardinality(returned) > 0 THEN
        FOR r IN
          DELETE FROM @.holds o WHERE o.id = ANY (returned) RETURNING array_position(accounts, o.account) AS a, o.amount
        LOOP
          changes[r.a] := changes[r.a] + r.amount;
        END LOOP;
      END IF;
      IF cardinality(ids) > 0 THEN
        IF repeated THEN
          FOR r IN
            SELECT array_position(ids, o.reference) AS i, o.kind, o.amount, o.overage FROM @.entries o
            WHERE o.kind <> 'credit' AND o.reference = ANY (ids)
          LOOP
            outcomes[r.i] := CASE r.kind WHEN 'settle' THEN 'already' ELSE 'released' END;
            charged[r.i] := -r.amount;
            overages[r.i] := r.overage;
          END LOOP;
        END IF;
        IF levels <> '[]' THEN
          ${crossingLevels}
        END IF;
        FOR r IN
          DELETE FROM @.holds o WHERE o.id = ANY (ids) AND outcomes[array_position(ids, o.id)] = 'settled'
            AND o.account = accounts[payers[array_position(ids, o.id)]]
          RETURNING array_position(ids, o.id) AS i, o.amount, o.ends > moment AS live
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
        FOR i IN 1..cardinality(ids) LOOP
          IF outcomes[i] = 'settled' THEN
            changes[payers[i]] := changes[payers[i]] + back[i] - charged[i];
          END IF;
        END LOOP;
        IF claims <> '[]' THEN
          ${countingSettlements}
        END IF;
        IF noticed <> '[]' THEN
          ${recordingNotices}
        END IF;
      END IF;
      IF claims <> '[]' THEN
        ${releasingCaps}
      END IF;
      IF cardinality(accounts) > 0 THEN
        UPDATE @.accounts o SET balance = o.balance + changes[array_position(accounts, o.id)]
        WHERE o.id = ANY (accounts) AND changes[array_position(accounts, o.id)] <> 0;
      END IF;
      RETURN jsonb_build_object('outcomes', outcomes, 'charged', charged::text[], 'overages', overages::text[]);
    END
    $f$;

    -- Ends calls and adds usage, in transactions that do not wait for the disk, because accounts would be locked meanwhile. If
    -- \`durable\`, a last one does, and with it the others are on disk. Unless \`apart\`, all belongs to the caller's transaction.
    -- If usage cannot be added, \`missing\` is NULL.
    CREATE PROCEDURE @.journal(endings jsonb, records jsonb, durable bool, apart bool, INOUT result jsonb)
    LANGUAGE plpgsql AS $f$
    DECLARE
      missing int;
      ignored text;
    BEGIN
      IF endings IS NOT NULL THEN
        ${callOf('end_calls', endingTypes, '', 'endings').replace(' AS result', ' INTO result')};
        IF apart THEN
          ${relaxing}
          COMMIT;
        END IF;
      END IF;
      IF records IS NOT NULL THEN
        BEGIN
          missing := @.append_usage(records);
        EXCEPTION WHEN OTHERS THEN
          missing := NULL;
        END;
        IF apart THEN
          ${relaxing}
          COMMIT;
        END IF;
      END IF;
      IF durable THEN
        ignored := pg_logical_emit_message(true, 'modelhatch', '');
      END IF;
      result := jsonb_build_object('ended', result, 'missing', missing);
    END
    $f$;
`

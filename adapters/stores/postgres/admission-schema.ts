/** The SQL function that admits a batch of calls, by limits and money. */
import {
  cappedResult,
  capVariables,
  countingHolds,
  describingCaps,
  drawingCaps,
  openingAccounts,
  readingCaps,
} from './admission-caps.ts'
import { drawingSlice } from './admission-slice.ts'
import { admissionTypes, parametersOf, plannedOnce, relaxing, stillAwaited } from './batch-columns.ts'
import { bucketVariables, lockingBuckets, writingBuckets } from './buckets.ts'

/**
 * The parameters are columns: an array per property. `rates` and `slots` are the numbers of entries per call in the columns
 * after them; entries of `rate_bucket`, `slot_bucket` and `payers` are positions in `buckets` and `accounts`. Each call is
 * decided on its own, in the order of the batch, with what the calls before it left. `more`: for how many calls to draw a slice at
 * most, if there is one call. Buckets are locked before accounts, and
 * these before caps, each sorted by name, as in every function, so that no two transactions deadlock.
 */
export const admissionSchema: string = `
    CREATE FUNCTION @.admit_calls(${parametersOf(admissionTypes)}, durable bool) RETURNS jsonb
    LANGUAGE plpgsql ${plannedOnce} AS $f$
    #variable_conflict use_variable
    DECLARE
      ${bucketVariables}
      -- Per rate, and per slot: what is left before the call.
      room float8[] := costs;
      free int[] := places;
      moment timestamptz;
      moment_ms float8;
      -- Per account. Without a balance, the account does not exist.
      balances bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(accounts)]);
      unlimited bool[] := array_fill(false, ARRAY[cardinality(accounts)]);
      changed bool[] := unlimited;
      expired bool[] := unlimited;
      -- Per call.
      known timestamptz[] := array_fill(NULL::timestamptz, ARRAY[cardinality(claims)]);
      ended bool[] := array_fill(false, ARRAY[cardinality(claims)]);
      made bool[] := ended;
      verdicts bool[] := ended;
      outcomes text[] := array_fill(NULL::text, ARRAY[cardinality(claims)]);
      standing text[] := outcomes;
      -- Per slot.
      mine bool[] := array_fill(false, ARRAY[cardinality(places)]);
      taken bool[] := mine;
      -- Per call, and of the slice: for how many it holds.
      counts int[] := array_fill(1, ARRAY[cardinality(claims)]);
      -- Accounts made for holds of zero.
      opened text[];
      ${capVariables}

      r record;
      counted record;
      b int;
      a int;
      rate int := 0;
      slot int := 0;
      cap int := 0;
      admitted bool;
      ignored text;
    BEGIN
      ${lockingBuckets}
      IF cardinality(accounts) > 0 THEN
        IF cardinality(cap_scope) > 0 THEN
          ${openingAccounts}
        END IF;
        FOR r IN
          SELECT array_position(accounts, o.id) AS i, o.balance, o.unlimited FROM @.accounts o WHERE o.id = ANY (accounts)
          ORDER BY o.id FOR UPDATE
        LOOP
          balances[r.i] := r.balance;
          unlimited[r.i] := r.unlimited;
        END LOOP;
        FOR r IN
          SELECT array_position(holds, o.id) AS i, o.ends FROM @.holds o WHERE o.id = ANY (holds)
          UNION ALL
          SELECT array_position(holds, o.reference), NULL FROM @.entries o
          WHERE o.kind <> 'credit' AND o.reference = ANY (holds)
        LOOP
          known[r.i] := r.ends;
          ended[r.i] := r.ends IS NULL;
        END LOOP;
      END IF;
      IF cardinality(cap_scope) > 0 THEN
        ${readingCaps}
      ELSE
        moment := clock_timestamp();
        moment_ms := date_part('epoch', moment) * 1000;
      END IF;
      ${stillAwaited}
      IF cardinality(places) > 0 THEN
        FOR r IN
          SELECT s.b, count(*) AS wanted, min(s.places) AS places FROM unnest(slot_bucket, places) s (b, places) GROUP BY s.b
        LOOP
          IF soonest[r.b] <= moment - interval '1 second'
            OR (soonest[r.b] <= moment AND held[r.b] + r.wanted > r.places)
          THEN
            DELETE FROM @.places WHERE bucket = buckets[r.b] AND ends <= moment;
            SELECT coalesce(sum(count), 0) AS held, min(ends) AS soonest INTO counted FROM @.places WHERE bucket = buckets[r.b];
            held[r.b] := counted.held;
            soonest[r.b] := counted.soonest;
            touched[r.b] := true;
          END IF;
        END LOOP;
        FOR r IN
          SELECT n.i FROM unnest(slot_call, slot_bucket) WITH ORDINALITY n (c, b, i)
          CROSS JOIN LATERAL (SELECT FROM @.places WHERE bucket = buckets[n.b] AND holder = claims[n.c] OFFSET 0) o
        LOOP
          mine[r.i] := true;
        END LOOP;
      END IF;

      FOR c IN 1..cardinality(claims) LOOP
        admitted := true;
        FOR i IN rate + 1..rate + rates[c] LOOP
          b := rate_bucket[i];
          room[i] := bursts[i] - greatest(0, used[b] - greatest(0, moment_ms - at[b]) * per_ms[i]);
          admitted := admitted AND room[i] >= costs[i];
        END LOOP;
        FOR i IN slot + 1..slot + slots[c] LOOP
          free[i] := places[i] - held[slot_bucket[i]] + mine[i]::int;
          admitted := admitted AND free[i] >= 1;
        END LOOP;
        verdicts[c] := admitted;

        a := payers[c];
        IF admitted AND a > 0 THEN
          IF NOT expired[a] AND NOT ended[c] AND (balances[a] < amounts[c] OR known[c] <= moment) THEN
            expired[a] := true;
            WITH gone AS (DELETE FROM @.holds WHERE account = accounts[a] AND ends <= moment RETURNING amount)
            SELECT sum(amount) AS back INTO r FROM gone;
            balances[a] := balances[a] + coalesce(r.back, 0);
            changed[a] := changed[a] OR r.back > 0;
          END IF;
          IF known[c] <= moment THEN
            known[c] := (SELECT ends FROM @.holds WHERE id = holds[c]);
          END IF;
          IF ended[c] THEN
            outcomes[c] := 'ended';
          ELSIF balances[a] IS NULL THEN
            outcomes[c] := 'insufficient';
          ELSIF known[c] IS NOT NULL THEN
            outcomes[c] := 'held';
          ELSIF balances[a] < amounts[c] AND NOT unlimited[a] AND NOT (amounts[c] = 0 AND caps[c] > 0) THEN
            outcomes[c] := 'insufficient';
          ELSE
            outcomes[c] := 'held';
            ${drawingCaps}
            IF outcomes[c] = 'held' THEN
              made[c] := true;
              changed[a] := changed[a] OR amounts[c] > 0;
              balances[a] := balances[a] - amounts[c];
            END IF;
          END IF;
          IF caps[c] > 0 AND outcomes[c] IN ('held', 'capped') THEN
            ${describingCaps}
          END IF;
          admitted := outcomes[c] = 'held';
          standing[c] := coalesce(balances[a], 0)::text;
        END IF;

        IF admitted THEN
          FOR i IN rate + 1..rate + rates[c] LOOP
            b := rate_bucket[i];
            used[b] := bursts[i] - room[i] + costs[i];
            at[b] := moment_ms;
            touched[b] := true;
          END LOOP;
          FOR i IN slot + 1..slot + slots[c] LOOP
            b := slot_bucket[i];
            taken[i] := true;
            touched[b] := true;
            held[b] := held[b] + 1 - mine[i]::int;
            soonest[b] := least(soonest[b], moment + claim_ms[c] * interval '1 millisecond');
          END LOOP;
        END IF;
        rate := rate + rates[c];
        slot := slot + slots[c];
        cap := cap + caps[c];
      END LOOP;

      IF more > 0 AND NOT made[1] THEN
        more := 0;
      END IF;
      IF more > 0 THEN
        ${drawingSlice}
      END IF;

      IF true = ANY (touched) THEN
        ${writingBuckets}
      END IF;
      IF cardinality(places) > 0 THEN
        INSERT INTO @.places (bucket, holder, ends, count)
        SELECT buckets[n.b], claims[n.c], moment + claim_ms[n.c] * interval '1 millisecond', counts[n.c]
        FROM unnest(slot_call, slot_bucket, taken) n (c, b, taken) WHERE n.taken
        ON CONFLICT (bucket, holder) DO UPDATE SET ends = excluded.ends;
      END IF;
      IF cardinality(accounts) > 0 THEN
        INSERT INTO @.holds (id, account, amount, ends)
        SELECT n.id, accounts[n.payer], n.amount, moment + n.ms * interval '1 millisecond'
        FROM unnest(holds, payers, amounts, hold_ms, made) n (id, payer, amount, ms, made) WHERE n.made;
        UPDATE @.accounts o SET balance = balances[array_position(accounts, o.id)]
        WHERE o.id = ANY (accounts) AND changed[array_position(accounts, o.id)];
        IF cardinality(cap_scope) > 0 THEN
          ${countingHolds}
        END IF;
      END IF;
      IF NOT durable THEN
        ${relaxing}
      END IF;
      RETURN jsonb_build_object('admitted', verdicts, 'left', room, 'free', free, 'outcomes', outcomes,
        'balances', standing, 'ahead', more, 'caps', CASE WHEN cardinality(cap_scope) > 0 THEN ${cappedResult} END);
    END
    $f$;
`

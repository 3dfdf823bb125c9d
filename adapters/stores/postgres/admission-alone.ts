/** The part of `admit_calls` for a call that is alone in its batch. */
import { shares } from '../slice-shares.ts'
import { stillAwaited } from './batch-columns.ts'
import { readingBuckets, writingBuckets } from './buckets.ts'

/**
 * PL/pgSQL that admits a call which is alone, pays, has no caps and is refused by nothing. Otherwise it writes nothing, and what
 * follows decides: there, a call costs about a hundred expressions, which take longer than its statements. The locks and their
 * order are the same. Only here, a slice is drawn for further calls.
 */
export const admittingOne: string = `
      is_usual := cardinality(claims) = 1 AND cardinality(accounts) = 1 AND cardinality(cap_scope) = 0;
      IF is_usual AND cardinality(buckets) > 0 THEN
        is_usual := (SELECT count(*) FROM @.buckets WHERE name = ANY (buckets)) = cardinality(buckets);
        IF is_usual THEN
          ${readingBuckets}
        END IF;
      END IF;
      IF is_usual THEN
        SELECT balance - amounts[1] INTO remaining FROM @.accounts WHERE id = accounts[1] FOR UPDATE;
        ${stillAwaited}
        moment := clock_timestamp();
        moment_ms := date_part('epoch', moment) * 1000;
        room := bursts;
        FOR i IN 1..cardinality(costs) LOOP
          was := greatest(0, used[rate_bucket[i]] - greatest(0, moment_ms - at[rate_bucket[i]]) * per_ms[i]);
          room[i] := bursts[i] - was;
          IF room[i] < costs[i] THEN
            remaining := NULL;
          END IF;
          used[rate_bucket[i]] := was + costs[i];
          at[rate_bucket[i]] := moment_ms;
        END LOOP;
        IF remaining >= 0 THEN
          SELECT array_agg(n.places - o.held ORDER BY n.i) INTO free
          FROM unnest(slot_bucket, places) WITH ORDINALITY n (b, places, i)
          CROSS JOIN LATERAL (SELECT * FROM @.slots WHERE bucket = buckets[n.b] OFFSET 0) o
          WHERE o.held < n.places AND coalesce(o.soonest > moment - interval '1 second', true)
            AND NOT EXISTS (SELECT FROM @.places p WHERE p.bucket = buckets[n.b] AND p.holder = claims[1]);
          IF coalesce(cardinality(free), 0) = cardinality(places) THEN
            INSERT INTO @.holds (id, account, amount, ends)
            SELECT holds[1], accounts[1], amounts[1], moment + hold_ms[1] * interval '1 millisecond'
            WHERE NOT EXISTS (SELECT FROM @.entries WHERE kind <> 'credit' AND reference = holds[1]) ON CONFLICT DO NOTHING;
            IF FOUND THEN
              IF cardinality(slices) > 0 THEN
                more := least(slice_calls[1], remaining / greatest(1, amounts[1] * ${shares.units}));
                FOR i IN 1..cardinality(costs) LOOP
                  more := least(more, floor((room[i] - costs[i]) / greatest(1e-6, costs[i] * ${shares.units})));
                END LOOP;
                FOR i IN 1..cardinality(places) LOOP
                  more := least(more, (free[i] - 1) / ${shares.places});
                END LOOP;
              END IF;
              IF more > 0 THEN
                INSERT INTO @.holds (id, account, amount, ends)
                VALUES (slices[1], accounts[1], amounts[1] * more, moment + hold_ms[1] * interval '1 millisecond');
                remaining := remaining - amounts[1] * more;
                FOR i IN 1..cardinality(costs) LOOP
                  used[rate_bucket[i]] := used[rate_bucket[i]] + costs[i] * more;
                END LOOP;
              END IF;
              UPDATE @.accounts SET balance = remaining WHERE id = accounts[1] AND amounts[1] > 0;
              IF cardinality(costs) > 0 THEN
                ${writingBuckets}
              END IF;
              IF cardinality(places) > 0 THEN
                leased := moment + claim_ms[1] * interval '1 millisecond';
                UPDATE @.slots o SET held = o.held + 1 + more, soonest = least(o.soonest, leased)
                WHERE o.bucket = ANY (ARRAY(SELECT buckets[b] FROM unnest(slot_bucket) b));
                INSERT INTO @.places (bucket, holder, ends) SELECT buckets[b], claims[1], leased FROM unnest(slot_bucket) b;
                IF more > 0 THEN
                  INSERT INTO @.places (bucket, holder, ends, count)
                  SELECT buckets[b], slices[1], leased, more FROM unnest(slot_bucket) b;
                END IF;
              END IF;
              IF NOT durable THEN
                PERFORM set_config('synchronous_commit', 'off', true);
              END IF;
              RETURN jsonb_build_object('admitted', ARRAY[true], 'left', room, 'free', coalesce(free, '{}'),
                'outcomes', ARRAY['held'], 'balances', ARRAY[remaining::text], 'ahead', more);
            END IF;
          END IF;
        END IF;
      END IF;`

/** The part of `end_calls` for calls that slices have admitted. */

const given = `unnest(draw_ids, draw_slice, draw_amount, draw_tokens, draw_ms, draw_claim_ms)
          d (id, slice, amount, tokens, ms, claim_ms)`

/**
 * Moves their parts of the slices to holds and places of their own, unless they have been moved before, or have ended. Such a hold
 * ends no earlier than its slice, so that \`caps.soonest\` stays right. What has become of a slice whose lease has expired is as if the leases of its calls had. Slices are updated one by one: a process has
 * few, and for a join with a table that was small when it was analysed, all of it would be read.
 */
export const endingSlices: string = `
        WITH made AS (
          INSERT INTO @.holds (id, account, amount, ends)
          SELECT d.id, o.account, d.amount, greatest(o.ends, moment + d.ms * interval '1 millisecond')
          FROM ${given} CROSS JOIN LATERAL (
            SELECT h.account, h.ends FROM @.holds h WHERE h.id = slices[d.slice] OFFSET 0
          ) o
          WHERE o.ends > moment AND (SELECT e.reference FROM @.entries e WHERE e.kind <> 'credit' AND e.reference = d.id) IS NULL
          ORDER BY d.id ON CONFLICT DO NOTHING RETURNING id
        )
        SELECT array_agg(id) INTO drawn FROM made;
        FOR s IN 1..cardinality(slices) LOOP
          SELECT count(*) AS calls, sum(d.amount) AS amount, sum(d.tokens) AS tokens INTO r FROM ${given} WHERE d.slice = s AND d.id = ANY (drawn);
          CONTINUE WHEN r.calls = 0;
          UPDATE @.holds SET amount = holds.amount - r.amount WHERE id = slices[s];
          IF claims <> '[]' THEN
            INSERT INTO @.cap_holds (hold, name, kind, start, money, tokens)
            SELECT d.id, c.name, c.kind, c.start, d.amount, d.tokens
            FROM @.cap_holds c CROSS JOIN ${given} WHERE c.hold = slices[s] AND d.slice = s AND d.id = ANY (drawn);
            UPDATE @.cap_holds SET money = cap_holds.money - r.amount, tokens = cap_holds.tokens - r.tokens,
              calls = cap_holds.calls - r.calls
            WHERE hold = slices[s];
          END IF;
          FOR i IN 1..cardinality(slice_of) LOOP
            CONTINUE WHEN slice_of[i] <> s;
            UPDATE @.places SET count = places.count - r.calls WHERE bucket = buckets[slice_bucket[i]] AND holder = slices[s];
            CONTINUE WHEN NOT FOUND;
            INSERT INTO @.places (bucket, holder, ends)
            SELECT buckets[slice_bucket[i]], d.id, moment + d.claim_ms * interval '1 millisecond'
            FROM ${given} WHERE d.slice = s AND d.id = ANY (drawn) ON CONFLICT DO NOTHING;
          END LOOP;
        END LOOP;`

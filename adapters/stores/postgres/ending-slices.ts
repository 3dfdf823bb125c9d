/** The part of `end_calls` for calls that slices have admitted. */

const given = `jsonb_to_recordset(draws) d (id text, slice text, amount bigint, ms float8, claim_ms float8, places jsonb)`

/**
 * Moves their parts of the slices to holds and places of their own, unless they have been moved before, or have ended. What has
 * become of a slice whose lease has expired is as if the leases of its calls had.
 */
export const endingSlices: string = `
        WITH made AS (
          INSERT INTO @.holds (id, account, amount, ends)
          SELECT d.id, o.account, d.amount, moment + d.ms * interval '1 millisecond'
          FROM ${given} CROSS JOIN LATERAL (SELECT * FROM @.holds h WHERE h.id = d.slice AND h.ends > moment OFFSET 0) o
          WHERE NOT EXISTS (SELECT FROM @.entries e WHERE e.kind <> 'credit' AND e.reference = d.id)
          ORDER BY d.id ON CONFLICT DO NOTHING RETURNING id
        )
        SELECT array_agg(id) INTO drawn FROM made;
        UPDATE @.holds o SET amount = o.amount - n.amount FROM (
          SELECT d.slice, sum(d.amount) AS amount FROM ${given} WHERE d.id = ANY (drawn) GROUP BY d.slice
        ) n WHERE o.id = n.slice;
        WITH moved AS (
          SELECT o.bucket, o.holder AS slice, d.id, moment + d.claim_ms * interval '1 millisecond' AS leased
          FROM ${given} CROSS JOIN LATERAL jsonb_array_elements_text(d.places) p (bucket)
          CROSS JOIN LATERAL (SELECT * FROM @.places WHERE bucket = p.bucket AND holder = d.slice OFFSET 0) o
          WHERE d.id = ANY (drawn)
        ), less AS (
          UPDATE @.places o SET count = o.count - n.count FROM (
            SELECT bucket, slice, count(*)::int AS count FROM moved GROUP BY bucket, slice
          ) n WHERE o.bucket = n.bucket AND o.holder = n.slice
        )
        INSERT INTO @.places (bucket, holder, ends) SELECT bucket, id, leased FROM moved ON CONFLICT DO NOTHING;`

/** Parts of `admit_calls` and `end_calls` that concern buckets. */

/** PL/pgSQL that locks the rows of `buckets`, sorted by name, and reads them into `used`, `at` and `least_used`: the units of slices. */
export const readingBuckets: string = `
        SELECT array_agg(l.used ORDER BY l.i), array_agg(date_part('epoch', l.at) * 1000 ORDER BY l.i), array_agg(
          CASE WHEN l.ahead_ends < clock_timestamp() THEN 0 WHEN l.before_ends < clock_timestamp() THEN l.ahead
            ELSE l.ahead + l.ahead_before END ORDER BY l.i
        ) INTO used, at, least_used FROM (
          SELECT array_position(buckets, o.name) AS i, o.* FROM @.buckets o WHERE o.name = ANY (buckets)
          ORDER BY o.name FOR UPDATE
        ) l;`

/** The same for rows that may be missing. They are inserted before any is locked, because otherwise it could deadlock. */
export const lockingBuckets: string = `
      IF cardinality(buckets) > 0 THEN
        IF (SELECT count(*) FROM @.buckets WHERE name = ANY (buckets)) < cardinality(buckets) THEN
          INSERT INTO @.buckets (name) SELECT n FROM unnest(buckets) n ORDER BY n COLLATE "C" ON CONFLICT DO NOTHING;
        END IF;
        ${readingBuckets}
      END IF;`

/** PL/pgSQL that writes the buckets that were changed at `moment`. */
export const writingBuckets: string = `
        UPDATE @.buckets o SET used = used[array_position(buckets, o.name)], at = moment
        WHERE o.name = ANY (buckets) AND at[array_position(buckets, o.name)] = moment_ms;`

/** PL/pgSQL that adds the units of a slice of `more` calls, which lasts until `slice_ends`. */
export const addingUnits: string = `
        UPDATE @.buckets o SET
          ahead_before = CASE WHEN o.before_ends > moment THEN o.ahead_before WHEN o.ahead_ends > moment THEN o.ahead ELSE 0 END,
          before_ends = CASE WHEN o.before_ends > moment THEN o.before_ends ELSE o.ahead_ends END,
          ahead = CASE WHEN o.before_ends > moment THEN o.ahead ELSE 0 END + n.units, ahead_ends = slice_ends
        FROM (SELECT buckets[r.b] AS name, more * r.cost AS units FROM unnest(rate_bucket, costs) r (b, cost)) n
        WHERE o.name = n.name;`

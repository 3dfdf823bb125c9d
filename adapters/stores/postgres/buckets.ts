/** Parts of `admit_calls` and `end_calls` that concern buckets. */

/** PL/pgSQL that locks the rows of `buckets`, sorted by name, and reads them into `used` and `at`. */
export const readingBuckets: string = `
        SELECT array_agg(l.used ORDER BY l.i), array_agg(date_part('epoch', l.at) * 1000 ORDER BY l.i) INTO used, at FROM (
          SELECT array_position(buckets, o.name) AS i, o.used, o.at FROM @.buckets o WHERE o.name = ANY (buckets)
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

/** Parts of `admit_one`, `admit_calls` and `end_calls` that concern buckets. */

/** The variables that `readingBuckets` fills. `touched`: whether a bucket is to be written. */
export const bucketVariables: string = `
      -- Per bucket: units in use at the last change, its time in milliseconds, places in use and the earliest end of their leases.
      used float8[];
      at float8[];
      held int[];
      soonest timestamptz[];
      touched bool[] := array_fill(false, ARRAY[cardinality(buckets)]);`

/** PL/pgSQL that locks the rows of `buckets`, sorted by name, and reads them. None if one is missing: see `lockingBuckets`. */
export const readingBuckets: string = `
        SELECT array_agg(l.used ORDER BY l.i), array_agg(date_part('epoch', l.at) * 1000 ORDER BY l.i),
          array_agg(l.held ORDER BY l.i), array_agg(l.soonest ORDER BY l.i) INTO used, at, held, soonest FROM (
          SELECT array_position(buckets, o.name) AS i, o.used, o.at, o.held, o.soonest FROM @.buckets o
          WHERE o.name = ANY (buckets)
            AND (SELECT count(*) FROM @.buckets WHERE name = ANY (buckets)) = cardinality(buckets)
          ORDER BY o.name FOR UPDATE
        ) l;`

/** The same for rows that may be missing. They are inserted before any is locked, because otherwise it could deadlock. */
export const lockingBuckets: string = `
      WHILE cardinality(buckets) > 0 LOOP
        ${readingBuckets}
        EXIT WHEN used IS NOT NULL;
        INSERT INTO @.buckets (name) SELECT n FROM unnest(buckets) n ORDER BY n COLLATE "C" ON CONFLICT DO NOTHING;
      END LOOP;`

/** PL/pgSQL that writes the buckets for which `which` is true. Units are as of `moment` if they were changed then. */
export const writingBuckets = (which: string): string => `
        UPDATE @.buckets o SET (used, at, held, soonest) = (
          SELECT used[n.i], CASE WHEN at[n.i] = moment_ms THEN moment ELSE o.at END, held[n.i], soonest[n.i]
          FROM (SELECT array_position(buckets, o.name) AS i OFFSET 0) n
        ) WHERE o.name = ANY (buckets) AND ${which};`

/** Whether a bucket is touched. */
export const isTouched: string = 'touched[array_position(buckets, o.name)]'

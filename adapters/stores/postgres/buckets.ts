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
export const readingBuckets: string = reading(' ORDER BY l.i', ', array_position(buckets, o.name) AS i')

/** The same for `buckets` that are sorted by name. */
export const readingSorted: string = reading('', '')

function reading(order: string, place: string): string {
  return `
        SELECT array_agg(l.used${order}), array_agg(l.at${order}), array_agg(l.held${order}), array_agg(l.soonest${order})
        INTO used, at, held, soonest FROM (
          SELECT o.used, date_part('epoch', o.at) * 1000 AS at, o.held, o.soonest${place} FROM @.buckets o
          WHERE o.name = ANY (buckets)
            AND (SELECT count(*) FROM @.buckets WHERE name = ANY (buckets)) = cardinality(buckets)
          ORDER BY o.name FOR UPDATE
        ) l;`
}

/** The same for rows that may be missing. They are inserted before any is locked, because otherwise it could deadlock. */
export const lockingBuckets: string = `
      WHILE cardinality(buckets) > 0 LOOP
        ${readingBuckets}
        EXIT WHEN used IS NOT NULL;
        INSERT INTO @.buckets (name) SELECT n FROM unnest(buckets) n ORDER BY n COLLATE "C" ON CONFLICT DO NOTHING;
      END LOOP;`

/** PL/pgSQL that writes the buckets that are touched. Units are as of `moment` if they were changed then. */
export const writingBuckets: string = `
        UPDATE @.buckets o SET (used, at, held, soonest) = (
          SELECT used[n.i], CASE WHEN at[n.i] = moment_ms THEN moment ELSE o.at END, held[n.i], soonest[n.i]
          FROM (SELECT array_position(buckets, o.name) AS i OFFSET 0) n
        ) WHERE o.name = ANY (buckets) AND touched[array_position(buckets, o.name)];`

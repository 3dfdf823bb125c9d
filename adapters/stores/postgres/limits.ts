/** Limits: one row per bucket, and one per concurrency slot in use. */
import type { LimitStore, LimitVerdict } from '../index.ts'
import type { Calls } from './calls.ts'
import type { Database } from './database.ts'
import type { Part } from './migration.ts'
import { inSlices } from './slices.ts'

/**
 * Sets are joined as arrays: the planner expects few elements of an array and looks up each, but for a set it would read
 * all of `places`. Gateways of version 1 call `give` and `draw_claim`. Both set `slots.held` to NULL, so that the next admission
 * counts again.
 */
export const limitFunctions: string = `
    CREATE OR REPLACE FUNCTION @.give(returns jsonb) RETURNS void LANGUAGE plpgsql AS $f$
    DECLARE
      rule jsonb;
    BEGIN
      PERFORM @.lock_buckets(ARRAY(
        SELECT b FROM jsonb_array_elements(returns) r, jsonb_array_elements_text(r->'places') b
        UNION SELECT c->>'bucket' FROM jsonb_array_elements(returns) r, jsonb_array_elements(r->'corrections') c
      ));
      DELETE FROM @.places USING unnest(
        ARRAY(SELECT b FROM jsonb_array_elements(returns) r, jsonb_array_elements_text(r->'places') b),
        ARRAY(SELECT r->>'id' FROM jsonb_array_elements(returns) r, jsonb_array_elements_text(r->'places'))
      ) AS given (bucket, holder)
      WHERE places.bucket = given.bucket AND places.holder = given.holder;
      UPDATE @.slots SET held = NULL WHERE bucket = ANY (ARRAY(
        SELECT b FROM jsonb_array_elements(returns) r, jsonb_array_elements_text(r->'places') b
      ));
      FOR rule IN
        SELECT c FROM jsonb_array_elements(returns) r, jsonb_array_elements(r->'corrections') c
        ORDER BY c->>'bucket' COLLATE "C"
      LOOP
        INSERT INTO @.buckets AS b (name, used) VALUES (rule->>'bucket', greatest(0, (rule->>'cost')::float8))
        ON CONFLICT (name) DO UPDATE SET
          used = greatest(0, @.used_at(b.used, b.at, rule, clock_timestamp()) + (rule->>'cost')::float8),
          at = clock_timestamp();
      END LOOP;
    END
    $f$;

    CREATE OR REPLACE FUNCTION @.draw_claim(claim jsonb) RETURNS void LANGUAGE plpgsql AS $f$
    DECLARE
      moment timestamptz := clock_timestamp();
      rule jsonb;
    BEGIN
      FOR rule IN SELECT * FROM jsonb_array_elements(claim->'rates') LOOP
        UPDATE @.buckets SET used = @.used_at(used, at, rule, moment) + (rule->>'cost')::float8, at = moment
        WHERE name = rule->>'bucket';
      END LOOP;
      INSERT INTO @.places (bucket, holder, ends)
      SELECT r->>'bucket', claim->>'id', moment + (claim->>'leaseMs')::float8 * interval '1 millisecond'
      FROM jsonb_array_elements(claim->'places') r
      ON CONFLICT (bucket, holder) DO UPDATE SET ends = excluded.ends;
      UPDATE @.slots SET held = NULL WHERE bucket IN (SELECT r->>'bucket' FROM jsonb_array_elements(claim->'places') r);
    END
    $f$;

    CREATE OR REPLACE FUNCTION @.renew_places(holders jsonb, lease_ms float8) RETURNS void LANGUAGE plpgsql AS $f$
    DECLARE
      until timestamptz := clock_timestamp() + lease_ms * interval '1 millisecond';
      names text[] := ARRAY(
        SELECT DISTINCT b FROM jsonb_array_elements(holders) h, jsonb_array_elements_text(h->'places') b
      );
      sooner text[] := ARRAY(SELECT bucket FROM @.slots WHERE bucket = ANY (names) AND soonest > until);
    BEGIN
      IF cardinality(sooner) > 0 THEN
        PERFORM @.lock_buckets(sooner);
        UPDATE @.slots SET soonest = least(soonest, until) WHERE bucket = ANY (sooner);
      END IF;
      -- Skips places that are locked, because they are being returned: waiting for them could deadlock.
      UPDATE @.places o SET ends = until FROM (
        SELECT p.ctid FROM unnest(
          ARRAY(SELECT b FROM jsonb_array_elements(holders) h, jsonb_array_elements_text(h->'places') b),
          ARRAY(SELECT h->>'id' FROM jsonb_array_elements(holders) h, jsonb_array_elements_text(h->'places'))
        ) AS kept (bucket, holder)
        JOIN @.places p ON p.bucket = kept.bucket AND p.holder = kept.holder AND p.ends > clock_timestamp()
        FOR UPDATE OF p SKIP LOCKED
      ) n WHERE o.ctid = n.ctid;
    END
    $f$;
`

/**
 * The tables are unlogged, so that calls do not wait for the disk; after a crash of the database server, all buckets are
 * full and all slots are free. `check_claim` locks the buckets of a claim, sorted by name, and decides on it; `draw_claim` then
 * records it.
 */
export const limitsPart: Part = {
  name: 'limits',
  versions: [
    `
    CREATE UNLOGGED TABLE @.buckets (
      name text COLLATE "C" PRIMARY KEY,
      used float8 NOT NULL DEFAULT 0,
      at timestamptz NOT NULL DEFAULT clock_timestamp()
    ) WITH (fillfactor = 50);

    CREATE UNLOGGED TABLE @.places (
      bucket text COLLATE "C" NOT NULL,
      holder text COLLATE "C" NOT NULL,
      ends timestamptz NOT NULL,
      PRIMARY KEY (bucket, holder)
    );

    CREATE FUNCTION @.used_at(used float8, at timestamptz, rule jsonb, moment timestamptz) RETURNS float8
    LANGUAGE sql IMMUTABLE AS $f$
      SELECT greatest(0, used - greatest(0, extract(epoch FROM moment - at)::float8) * 1000
        * (rule->>'limit')::float8 / (rule->>'periodMs')::float8)
    $f$;

    CREATE FUNCTION @.check_claim(claim jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
    DECLARE
      names text[];
      moment timestamptz;
      rule jsonb;
      room float8;
      holders int;
      admitted bool := true;
      room_left float8[] := '{}';
      free int[] := '{}';
    BEGIN
      SELECT array_agg(DISTINCT r->>'bucket' COLLATE "C" ORDER BY r->>'bucket' COLLATE "C") INTO names
      FROM jsonb_array_elements((claim->'rates') || (claim->'places')) r;
      INSERT INTO @.buckets (name) SELECT unnest(names) ON CONFLICT DO NOTHING;
      PERFORM FROM @.buckets WHERE name = ANY (names) ORDER BY name FOR UPDATE;
      moment := clock_timestamp();
      FOR rule IN SELECT * FROM jsonb_array_elements(claim->'rates') LOOP
        SELECT (rule->>'burst')::float8 - @.used_at(used, at, rule, moment) INTO room
        FROM @.buckets WHERE name = rule->>'bucket';
        admitted := admitted AND room >= (rule->>'cost')::float8;
        room_left := room_left || room;
      END LOOP;
      FOR rule IN SELECT * FROM jsonb_array_elements(claim->'places') LOOP
        DELETE FROM @.places WHERE bucket = rule->>'bucket' AND ends <= moment;
        SELECT count(*) INTO holders FROM @.places WHERE bucket = rule->>'bucket' AND holder <> claim->>'id';
        admitted := admitted AND holders < (rule->>'places')::int;
        free := free || ((rule->>'places')::int - holders);
      END LOOP;
      RETURN jsonb_build_object('admitted', admitted, 'left', to_jsonb(room_left), 'free', to_jsonb(free));
    END
    $f$;

    CREATE FUNCTION @.take(claim jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
    DECLARE
      verdict jsonb := @.check_claim(claim);
    BEGIN
      IF (verdict->>'admitted')::bool THEN
        PERFORM @.draw_claim(claim);
      END IF;
      RETURN verdict;
    END
    $f$;
    `,
    [{ run: limitFunctions }],
  ],
}

/** The limit store of a schema. Claims are taken and returned in the batches of `calls`. */
export function postgresLimits(database: Database, calls: Calls): LimitStore {
  return {
    take: async (claim) => (await calls.admit({ claim })).limits as LimitVerdict,
    async give(returned) {
      await calls.end({ returned })
    },
    async renew(holders, leaseMs) {
      const named = holders.map(({ id, places }) => ({ id, places }))
      await inSlices(named, async (slice) => database.call('renew_places', JSON.stringify(slice), leaseMs))
    },
  }
}

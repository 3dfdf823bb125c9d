/** The tables of caps, and the SQL functions that the functions of the ledger share. */
import { slicePrefix } from '../index.ts'
import { plannedOnce } from './batch-columns.ts'

/** The holds of slices: no other ids are between these two. */
const ofSlices = `hold > '${slicePrefix}' AND hold < '${slicePrefix}~'`

/**
 * `caps` has one row per cap, whose lock serializes all that concerns the cap; `cap_use` one per cap and period. What an open
 * hold counts is included in `held_*`, and kept in `cap_holds`.
 *
 * Locks are taken in the order buckets, accounts, caps, holds, each sorted, so that no two transactions deadlock. That is why
 * a hold that expires is returned twice: to its account by the next transaction that locks the account, and to each cap by
 * the next one that locks the cap. `caps.soonest` says when that is due: no hold in `cap_holds` expires before.
 */
export const capsSchema: string = `
    CREATE TABLE @.caps (
      name text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      soonest timestamptz,
      PRIMARY KEY (name, kind)
    ) WITH (fillfactor = 50);
    CREATE TABLE @.cap_use (
      name text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      start float8 NOT NULL,
      counts_until float8 NOT NULL,
      ends timestamptz NOT NULL GENERATED ALWAYS AS (to_timestamp(counts_until / 1000)) STORED,
      money bigint NOT NULL DEFAULT 0,
      tokens bigint NOT NULL DEFAULT 0,
      calls bigint NOT NULL DEFAULT 0,
      held_money bigint NOT NULL DEFAULT 0,
      held_tokens bigint NOT NULL DEFAULT 0,
      held_calls bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (name, kind, start)
    ) WITH (fillfactor = 50);
    CREATE INDEX ON @.cap_use (ends);
    CREATE TABLE @.cap_holds (
      hold text COLLATE "C" NOT NULL,
      name text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      start float8 NOT NULL,
      money bigint NOT NULL,
      tokens bigint NOT NULL,
      calls int NOT NULL DEFAULT 1,
      PRIMARY KEY (hold, name, kind)
    );
    CREATE INDEX ON @.cap_holds (name, kind);
    CREATE INDEX ON @.cap_holds (name, kind) WHERE ${ofSlices};
    -- Where settlements count, for refunds.
    CREATE TABLE @.cap_charges (
      hold text COLLATE "C" PRIMARY KEY,
      account text COLLATE "C" NOT NULL,
      refundable bigint NOT NULL,
      caps jsonb NOT NULL,
      ends timestamptz NOT NULL
    );
    CREATE INDEX ON @.cap_charges (ends);
    CREATE TABLE @.cap_overrides (
      name text COLLATE "C" NOT NULL,
      temporary bool NOT NULL,
      limits jsonb NOT NULL,
      until float8,
      PRIMARY KEY (name, temporary)
    );
    CREATE FUNCTION @.cap_sums(of_name text, of_kind text, from_start float8, to_start float8)
    RETURNS TABLE (first float8, money bigint, tokens bigint, calls bigint, held_money bigint, held_tokens bigint,
      held_calls bigint) LANGUAGE sql STABLE AS $f$
      SELECT min(counts_until) FILTER (
          WHERE u.money <> 0 OR u.tokens <> 0 OR u.calls <> 0 OR u.held_money <> 0 OR u.held_tokens <> 0 OR u.held_calls <> 0
        ), coalesce(sum(u.money), 0)::bigint, coalesce(sum(u.tokens), 0)::bigint, coalesce(sum(u.calls), 0)::bigint,
        coalesce(sum(u.held_money), 0)::bigint, coalesce(sum(u.held_tokens), 0)::bigint,
        coalesce(sum(u.held_calls), 0)::bigint
      FROM @.cap_use u WHERE u.name = of_name AND u.kind = of_kind AND u.start BETWEEN from_start AND to_start
    $f$;

    -- The caps in the periods of their claims that contain a time, and the limits in force instead of those of the claims. A limit
    -- that is removed is null. All in one function: a function of one value would be planned for each call.
    CREATE FUNCTION @.cap_states(claims jsonb, now_ms float8)
    RETURNS TABLE (i bigint, name text, kind text, start float8, finish float8, rolling float8, first float8, money bigint,
      tokens bigint, calls bigint, held_money bigint, held_tokens bigint, held_calls bigint, limits jsonb)
    LANGUAGE sql STABLE AS $f$
      SELECT c.i, c.name, c.kind, p.start, p.finish, c.rolling, u.*,
        coalesce((SELECT o.limits FROM @.cap_overrides o WHERE o.name = c.name AND NOT o.temporary), '{}')
        || coalesce((SELECT o.limits FROM @.cap_overrides o WHERE o.name = c.name AND o.temporary AND o.until > now_ms), '{}')
      FROM ROWS FROM (jsonb_to_recordset(claims) AS (
        name text, kind text, grain float8, rolling float8, boundaries float8[]
      )) WITH ORDINALITY c (name, kind, grain, rolling, boundaries, i)
      CROSS JOIN LATERAL (
        SELECT floor(now_ms / c.grain) * c.grain AS start, (floor(now_ms / c.grain) + 1) * c.grain AS finish
        WHERE c.grain IS NOT NULL
        UNION ALL SELECT max(b) FILTER (WHERE b <= now_ms), min(b) FILTER (WHERE b > now_ms) FROM unnest(c.boundaries) b
        WHERE c.grain IS NULL HAVING count(*) > 0
      ) p
      CROSS JOIN LATERAL @.cap_sums(c.name, c.kind, p.start - c.rolling, p.start) u
    $f$;

    -- Locks caps after making their rows, and returns to them what expired holds count. Returns the time.
    CREATE FUNCTION @.lock_caps(claims jsonb) RETURNS timestamptz LANGUAGE plpgsql ${plannedOnce} AS $f$
    DECLARE
      moment timestamptz;
      soonest timestamptz;
      expired record;
      r record;
    BEGIN
      INSERT INTO @.caps (name, kind)
      SELECT DISTINCT c.name COLLATE "C", c.kind COLLATE "C" FROM jsonb_to_recordset(claims) c (name text, kind text)
      WHERE (SELECT o.name FROM @.caps o WHERE o.name = c.name AND o.kind = c.kind) IS NULL ORDER BY 1, 2
      ON CONFLICT DO NOTHING;
      SELECT min(l.soonest) INTO soonest FROM (
        SELECT o.soonest FROM (
          SELECT DISTINCT c.name, c.kind FROM jsonb_to_recordset(claims) c (name text, kind text)
        ) c JOIN @.caps o ON o.name = c.name AND o.kind = c.kind ORDER BY o.name, o.kind FOR UPDATE OF o
      ) l;
      moment := clock_timestamp();
      IF soonest IS NULL OR soonest > moment THEN
        RETURN moment;
      END IF;
      FOR expired IN
        SELECT o.name, o.kind FROM (
          SELECT DISTINCT c.name, c.kind FROM jsonb_to_recordset(claims) c (name text, kind text)
        ) c JOIN @.caps o ON o.name = c.name AND o.kind = c.kind WHERE o.soonest <= moment ORDER BY o.name, o.kind
      LOOP
        -- Waits for holds that are being renewed.
        PERFORM FROM @.cap_holds c JOIN @.holds h ON h.id = c.hold
        WHERE c.name = expired.name AND c.kind = expired.kind AND h.ends <= moment ORDER BY h.id FOR UPDATE OF h;
        FOR r IN
          WITH gone AS (
            DELETE FROM @.cap_holds c WHERE c.name = expired.name AND c.kind = expired.kind
              AND coalesce((SELECT h.ends FROM @.holds h WHERE h.id = c.hold) <= moment, true)
            RETURNING c.start, c.money, c.tokens, c.calls
          )
          SELECT start, sum(money) AS money, sum(tokens) AS tokens, sum(calls) AS calls FROM gone GROUP BY start ORDER BY start
        LOOP
          UPDATE @.cap_use SET held_money = held_money - r.money, held_tokens = held_tokens - r.tokens,
            held_calls = held_calls - r.calls
          WHERE name = expired.name AND kind = expired.kind AND start = r.start;
        END LOOP;
        UPDATE @.caps SET soonest = (
          SELECT min(h.ends) FROM @.cap_holds c JOIN @.holds h ON h.id = c.hold
          WHERE c.name = expired.name AND c.kind = expired.kind
        ) WHERE name = expired.name AND kind = expired.kind;
      END LOOP;
      RETURN moment;
    END
    $f$;

    CREATE FUNCTION @.read_caps(claims jsonb) RETURNS jsonb LANGUAGE plpgsql ${plannedOnce} AS $f$
    DECLARE
      moment timestamptz := @.lock_caps(claims);
    BEGIN
      RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_object('start', s.start, 'end', s.finish,
          'resetsAt', coalesce(s.first, s.finish + s.rolling), 'settled', ARRAY[s.money, s.tokens, s.calls]::text[],
          'held', ARRAY[s.held_money, s.held_tokens, s.held_calls]::text[], 'limits', s.limits,
          'ahead', (SELECT sum(c.calls)::text FROM @.cap_holds c WHERE c.name = s.name AND c.kind = s.kind
            AND ${ofSlices} AND c.start BETWEEN s.start - s.rolling AND s.start))
          ORDER BY s.i), '[]')
        FROM @.cap_states(claims, date_part('epoch', moment) * 1000) s
      );
    END
    $f$;

    -- A credit that returns the charge of a settled hold: its caps count so much less.
    CREATE FUNCTION @.refund(of_account text, by bigint, payment text, remark text, of_hold text) RETURNS jsonb
    LANGUAGE plpgsql ${plannedOnce} AS $f$
    DECLARE
      verdict jsonb := @.credit(of_account, by, payment, remark);
      charge record;
      less bigint;
    BEGIN
      IF verdict->>'outcome' <> 'credited' OR by <= 0 THEN
        RETURN verdict;
      END IF;
      SELECT * INTO charge FROM @.cap_charges WHERE hold = of_hold AND account = of_account;
      IF charge.hold IS NOT NULL THEN
        PERFORM @.lock_caps(charge.caps);
        -- The account is locked, so that there is no other refund of the hold.
        less := least(by, charge.refundable);
        UPDATE @.cap_charges SET refundable = refundable - less WHERE hold = of_hold;
        UPDATE @.cap_use u SET money = u.money - less
        FROM jsonb_to_recordset(charge.caps) c (name text, kind text, start float8)
        WHERE u.name = c.name AND u.kind = c.kind AND u.start = c.start;
      END IF;
      RETURN verdict;
    END
    $f$;
`

SET check_function_bodies = false;
CREATE SCHEMA @;
CREATE TABLE @.accounts (
    id text NOT NULL COLLATE pg_catalog."C",
    balance bigint DEFAULT 0 NOT NULL,
    unlimited boolean DEFAULT false NOT NULL,
    name text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (fillfactor='50');
CREATE FUNCTION @.account_json(a @.accounts) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
      SELECT jsonb_strip_nulls(jsonb_build_object(
        'id', a.id,
        'balance', (a.balance + coalesce(sum(h.amount) FILTER (WHERE h.ends <= clock_timestamp()), 0))::text,
        'held', coalesce(sum(h.amount) FILTER (WHERE h.ends > clock_timestamp()), 0)::text,
        'unlimited', a.unlimited,
        'name', a.name,
        'createdAt', floor(extract(epoch FROM a.created_at) * 1000)))
      FROM (SELECT amount, ends FROM @.holds WHERE account = a.id) h
    $$;
CREATE FUNCTION @.admit(claim jsonb, hold_id text, of_account text, want bigint, lease_ms double precision) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
    DECLARE
      verdict jsonb := @.check_claim(claim);
      held jsonb;
    BEGIN
      IF NOT (verdict->>'admitted')::bool THEN
        RETURN jsonb_build_object('limits', verdict);
      END IF;
      held := @.hold(hold_id, of_account, want, lease_ms);
      IF held->>'outcome' = 'held' THEN
        PERFORM @.draw_claim(claim);
      END IF;
      RETURN jsonb_build_object('limits', verdict, 'hold', held);
    END
    $$;
CREATE FUNCTION @.append_usage(records jsonb) RETURNS void
    LANGUAGE sql
    AS $$
      INSERT INTO @.usage (id, account, "group", key, model, endpoint, started_at, cost, record)
      SELECT r->>'id', r->>'account', r->>'group', coalesce(r->>'key', ''), r->>'model', r->>'endpoint',
        (r->>'startedAt')::float8, (r->>'cost')::bigint, r
      FROM jsonb_array_elements(records) r
      ORDER BY r->>'id' COLLATE "C"
      ON CONFLICT DO NOTHING
    $$;
CREATE FUNCTION @.audit() RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
      WITH books AS (
        SELECT account,
          coalesce(sum(amount) FILTER (WHERE kind = 'credit'), 0) AS credits,
          -coalesce(sum(amount) FILTER (WHERE kind = 'settle'), 0) AS settlements
        FROM @.entries GROUP BY account
      ), open AS (
        SELECT account,
          coalesce(sum(amount) FILTER (WHERE ends > now()), 0) AS held,
          coalesce(sum(amount) FILTER (WHERE ends <= now()), 0) AS expired
        FROM @.holds GROUP BY account
      ), standing AS (
        SELECT a.id, a.balance + coalesce(o.expired, 0) AS balance, coalesce(o.held, 0) AS held,
          coalesce(b.credits, 0) AS credits, coalesce(b.settlements, 0) AS settlements
        FROM @.accounts a LEFT JOIN books b ON b.account = a.id LEFT JOIN open o ON o.account = a.id
      )
      SELECT jsonb_build_object(
        'accounts', count(*),
        'credits', coalesce(sum(credits), 0)::text,
        'balances', coalesce(sum(balance), 0)::text,
        'holds', coalesce(sum(held), 0)::text,
        'settlements', coalesce(sum(settlements), 0)::text,
        'faults', coalesce(jsonb_agg(jsonb_build_object(
          'account', id, 'balance', balance::text, 'expected', (credits - settlements - held)::text
        )) FILTER (WHERE balance <> credits - settlements - held), '[]'))
      FROM standing
    $$;
CREATE TABLE @.idempotency (
    account text NOT NULL COLLATE pg_catalog."C",
    route text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    attempt text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL,
    ends timestamp with time zone NOT NULL,
    ended boolean DEFAULT false NOT NULL,
    status integer,
    headers text,
    body bytea
);
CREATE FUNCTION @.begin_attempt(of_account text, of_route text, of_key text, new_attempt text, new_digest text, lease_ms double precision) RETURNS SETOF @.idempotency
    LANGUAGE plpgsql
    AS $$
    BEGIN
      INSERT INTO @.idempotency AS old (account, route, key, attempt, digest, ends)
      VALUES (of_account, of_route, of_key, new_attempt, new_digest,
        clock_timestamp() + lease_ms * interval '1 millisecond')
      ON CONFLICT (account, route, key) DO UPDATE SET attempt = excluded.attempt, digest = excluded.digest,
        ends = excluded.ends, ended = false, status = NULL, headers = NULL, body = NULL
      WHERE old.ends <= clock_timestamp() OR (old.attempt = excluded.attempt AND NOT old.ended);
      IF NOT FOUND THEN
        -- The row that stood in the way is locked by now, and cannot go.
        RETURN QUERY SELECT * FROM @.idempotency WHERE account = of_account AND route = of_route AND key = of_key;
      END IF;
    END
    $$;
CREATE FUNCTION @.check_claim(claim jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
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
    $$;
CREATE FUNCTION @.credit(of_account text, by bigint, payment text, remark text) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
    DECLARE
      made record;
      now_balance bigint;
      outcome text := 'credited';
    BEGIN
      -- Two credits with one reference may be for two accounts: they meet at the reference.
      PERFORM pg_advisory_xact_lock(hashtext('@.credit'), hashtext(payment));
      SELECT * INTO made FROM @.entries WHERE (kind = 'credit') = true AND reference = payment;
      IF made.number IS NULL THEN
        INSERT INTO @.accounts AS a (id, balance) VALUES (of_account, by)
        ON CONFLICT (id) DO UPDATE SET balance = a.balance + by;
        INSERT INTO @.entries (account, kind, reference, amount, note)
        VALUES (of_account, 'credit', payment, by, remark);
      ELSE
        outcome := CASE WHEN made.account = of_account AND made.amount = by THEN 'already' ELSE 'conflict' END;
      END IF;
      SELECT balance INTO now_balance FROM @.accounts WHERE id = of_account;
      RETURN jsonb_build_object('outcome', outcome, 'balance', coalesce(now_balance, 0)::text);
    END
    $$;
CREATE FUNCTION @.draw_claim(claim jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
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
    END
    $$;
CREATE FUNCTION @.end_hold(hold_id text, of_account text, cost bigint) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
    DECLARE
      ended record;
      held bigint;
      kind text := CASE WHEN cost IS NULL THEN 'release' ELSE 'settle' END;
      charge bigint := coalesce(cost, 0);
    BEGIN
      INSERT INTO @.accounts (id) VALUES (of_account) ON CONFLICT DO NOTHING;
      PERFORM FROM @.accounts WHERE id = of_account FOR UPDATE;
      SELECT * INTO ended FROM @.entries e WHERE (e.kind = 'credit') = false AND e.reference = hold_id;
      IF ended.number IS NOT NULL THEN
        RETURN jsonb_build_object(
          'outcome', CASE ended.kind WHEN 'settle' THEN 'already' ELSE 'released' END,
          'charged', (-ended.amount)::text, 'overage', ended.overage::text);
      END IF;
      PERFORM @.return_expired(of_account);
      DELETE FROM @.holds WHERE id = hold_id AND account = of_account RETURNING amount INTO held;
      held := coalesce(held, 0);
      INSERT INTO @.entries (account, kind, reference, amount, overage)
      VALUES (of_account, kind, hold_id, -charge, greatest(0, charge - held));
      UPDATE @.accounts SET balance = balance + held - charge WHERE id = of_account;
      RETURN jsonb_build_object('outcome', 'settled', 'charged', charge::text, 'overage', greatest(0, charge - held)::text);
    END
    $$;
CREATE FUNCTION @.finish(returns jsonb, ends jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
    DECLARE
      ending jsonb;
    BEGIN
      PERFORM @.give(returns);
      FOR ending IN SELECT * FROM jsonb_array_elements(ends) e ORDER BY e->>'account' COLLATE "C" LOOP
        PERFORM @.end_hold(ending->>'id', ending->>'account', (ending->>'amount')::bigint);
      END LOOP;
    END
    $$;
CREATE FUNCTION @.give(returns jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
    DECLARE
      rule jsonb;
    BEGIN
      DELETE FROM @.places USING jsonb_array_elements(returns) r, jsonb_array_elements_text(r->'places') b
      WHERE bucket = b AND holder = r->>'id';
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
    $$;
CREATE FUNCTION @.hold(hold_id text, of_account text, want bigint, lease_ms double precision) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
    DECLARE
      acc record;
      known record;
    BEGIN
      SELECT * INTO acc FROM @.accounts WHERE id = of_account FOR UPDATE;
      IF EXISTS (SELECT FROM @.entries WHERE (kind = 'credit') = false AND reference = hold_id) THEN
        RETURN jsonb_build_object('outcome', 'ended', 'balance', coalesce(acc.balance, 0)::text);
      END IF;
      IF acc.id IS NULL THEN
        RETURN jsonb_build_object('outcome', 'insufficient', 'balance', '0');
      END IF;
      SELECT * INTO known FROM @.holds WHERE id = hold_id;
      IF acc.balance < want OR known.ends <= clock_timestamp() THEN
        PERFORM @.return_expired(of_account);
        SELECT * INTO acc FROM @.accounts WHERE id = of_account;
        SELECT * INTO known FROM @.holds WHERE id = hold_id;
      END IF;
      IF known.id IS NOT NULL THEN
        RETURN jsonb_build_object('outcome', 'held', 'balance', acc.balance::text);
      END IF;
      IF acc.balance < want AND NOT acc.unlimited THEN
        RETURN jsonb_build_object('outcome', 'insufficient', 'balance', acc.balance::text);
      END IF;
      INSERT INTO @.holds (id, account, amount, ends)
      VALUES (hold_id, of_account, want, clock_timestamp() + lease_ms * interval '1 millisecond');
      UPDATE @.accounts SET balance = balance - want WHERE id = of_account RETURNING * INTO acc;
      RETURN jsonb_build_object('outcome', 'held', 'balance', acc.balance::text);
    END
    $$;
CREATE FUNCTION @.open_account(of_account text, new_name text, new_unlimited boolean) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
    DECLARE
      acc @.accounts;
    BEGIN
      INSERT INTO @.accounts AS a (id, name, unlimited) VALUES (of_account, new_name, coalesce(new_unlimited, false))
      ON CONFLICT (id) DO UPDATE SET
        name = coalesce(new_name, a.name), unlimited = coalesce(new_unlimited, a.unlimited)
      RETURNING * INTO acc;
      RETURN @.account_json(acc);
    END
    $$;
CREATE FUNCTION @.put_response(of_account text, new_id text, new_items text, new_body text, age_ms double precision) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
      INSERT INTO @.responses (account, id, items, body, ends)
      VALUES (of_account, new_id, new_items, new_body, clock_timestamp() + age_ms * interval '1 millisecond')
      ON CONFLICT (account, id) DO UPDATE SET items = excluded.items, body = excluded.body, ends = excluded.ends;
      DELETE FROM @.response_items WHERE account = of_account AND response = new_id;
      INSERT INTO @.response_items (account, item, response)
      SELECT DISTINCT of_account, each, new_id FROM jsonb_array_elements_text(new_items::jsonb) each;
    END
    $$;
CREATE FUNCTION @.renew_holds(renewed jsonb, lease_ms double precision) RETURNS void
    LANGUAGE sql
    AS $$
      UPDATE @.holds SET ends = clock_timestamp() + lease_ms * interval '1 millisecond'
      FROM jsonb_array_elements(renewed) h
      WHERE id = h->>'id' AND account = h->>'account' AND ends > clock_timestamp()
    $$;
CREATE FUNCTION @.renew_places(holders jsonb, lease_ms double precision) RETURNS void
    LANGUAGE sql
    AS $$
      UPDATE @.places SET ends = clock_timestamp() + lease_ms * interval '1 millisecond'
      FROM jsonb_array_elements(holders) h, jsonb_array_elements_text(h->'places') b
      WHERE bucket = b AND holder = h->>'id' AND ends > clock_timestamp()
    $$;
CREATE FUNCTION @.return_expired(of_account text) RETURNS void
    LANGUAGE sql
    AS $$
      WITH gone AS (
        DELETE FROM @.holds WHERE account = of_account AND ends <= clock_timestamp() RETURNING amount
      )
      UPDATE @.accounts SET balance = balance + (SELECT coalesce(sum(amount), 0) FROM gone)
      WHERE id = of_account AND EXISTS (SELECT FROM gone)
    $$;
CREATE FUNCTION @.take(claim jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
    DECLARE
      verdict jsonb := @.check_claim(claim);
    BEGIN
      IF (verdict->>'admitted')::bool THEN
        PERFORM @.draw_claim(claim);
      END IF;
      RETURN verdict;
    END
    $$;
CREATE FUNCTION @.used_at(used double precision, at timestamp with time zone, rule jsonb, moment timestamp with time zone) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
      SELECT greatest(0, used - greatest(0, extract(epoch FROM moment - at)::float8) * 1000
        * (rule->>'limit')::float8 / (rule->>'periodMs')::float8)
    $$;
CREATE UNLOGGED TABLE @.buckets (
    name text NOT NULL COLLATE pg_catalog."C",
    used double precision DEFAULT 0 NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE @.entries (
    number bigint NOT NULL,
    account text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    reference text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    overage bigint DEFAULT 0 NOT NULL,
    note text,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT entries_kind_check CHECK ((kind = ANY (ARRAY['credit'::text, 'settle'::text, 'release'::text])))
);
ALTER TABLE @.entries ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME @.entries_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE @.holds (
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    ends timestamp with time zone NOT NULL,
    CONSTRAINT holds_amount_check CHECK ((amount >= 0))
);
CREATE TABLE @.keys (
    id text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    created_at double precision NOT NULL,
    version bigint NOT NULL,
    record jsonb NOT NULL,
    changed timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE @.migrations (
    part text NOT NULL,
    version integer NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE UNLOGGED TABLE @.places (
    bucket text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    ends timestamp with time zone NOT NULL
);
CREATE TABLE @.response_items (
    account text NOT NULL COLLATE pg_catalog."C",
    item text NOT NULL COLLATE pg_catalog."C",
    response text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE @.responses (
    account text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    items text NOT NULL,
    body text NOT NULL,
    ends timestamp with time zone NOT NULL
);
CREATE TABLE @.tasks (
    tenant text NOT NULL,
    id text NOT NULL,
    version integer NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    due_at bigint,
    leased_until bigint NOT NULL,
    data text NOT NULL
);
CREATE TABLE @.usage (
    id text NOT NULL COLLATE pg_catalog."C",
    account text NOT NULL COLLATE pg_catalog."C",
    "group" text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    started_at double precision NOT NULL,
    cost bigint NOT NULL,
    record jsonb NOT NULL
);
INSERT INTO @.migrations VALUES ('keys', 1, '2026-11-22 01:32:41.89733+00');
INSERT INTO @.migrations VALUES ('limits', 1, '2026-11-22 01:32:41.89733+00');
INSERT INTO @.migrations VALUES ('ledger', 1, '2026-11-22 01:32:41.89733+00');
INSERT INTO @.migrations VALUES ('joint', 1, '2026-11-22 01:32:41.89733+00');
INSERT INTO @.migrations VALUES ('usage', 1, '2026-11-22 01:32:41.89733+00');
INSERT INTO @.migrations VALUES ('tasks', 1, '2026-11-22 01:32:41.89733+00');
INSERT INTO @.migrations VALUES ('idempotency', 1, '2026-11-22 01:32:41.89733+00');
INSERT INTO @.migrations VALUES ('responses', 1, '2026-11-22 01:32:41.89733+00');
SELECT pg_catalog.setval('@.entries_number_seq', 1, false);
ALTER TABLE ONLY @.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY @.buckets
    ADD CONSTRAINT buckets_pkey PRIMARY KEY (name);
ALTER TABLE ONLY @.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (number);
ALTER TABLE ONLY @.holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (id);
ALTER TABLE ONLY @.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (account, route, key);
ALTER TABLE ONLY @.keys
    ADD CONSTRAINT keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY @.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY @.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (part, version);
ALTER TABLE ONLY @.places
    ADD CONSTRAINT places_pkey PRIMARY KEY (bucket, holder);
ALTER TABLE ONLY @.response_items
    ADD CONSTRAINT response_items_pkey PRIMARY KEY (account, item, response);
ALTER TABLE ONLY @.responses
    ADD CONSTRAINT responses_pkey PRIMARY KEY (account, id);
ALTER TABLE ONLY @.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY @.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (id);
CREATE INDEX entries_account_number_idx ON @.entries USING btree (account, number);
CREATE UNIQUE INDEX entries_expr_reference_idx ON @.entries USING btree (((kind = 'credit'::text)), reference);
CREATE INDEX holds_account_ends_idx ON @.holds USING btree (account, ends);
CREATE INDEX idempotency_ends_idx ON @.idempotency USING btree (ends);
CREATE INDEX keys_account_created_at_idx ON @.keys USING btree (account, created_at);
CREATE INDEX keys_changed_idx ON @.keys USING btree (changed);
CREATE INDEX response_items_account_response_idx ON @.response_items USING btree (account, response);
CREATE INDEX responses_ends_idx ON @.responses USING btree (ends);
CREATE INDEX tasks_due ON @.tasks USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX tasks_list ON @.tasks USING btree (tenant, created_at, id);
CREATE INDEX tasks_over ON @.tasks USING btree (expires_at) WHERE (due_at IS NULL);
CREATE INDEX usage_account_started_at_id_idx ON @.usage USING btree (account, started_at, id);
CREATE INDEX usage_started_at_id_idx ON @.usage USING btree (started_at, id);
ALTER TABLE ONLY @.entries
    ADD CONSTRAINT entries_account_fkey FOREIGN KEY (account) REFERENCES @.accounts(id);
ALTER TABLE ONLY @.holds
    ADD CONSTRAINT holds_account_fkey FOREIGN KEY (account) REFERENCES @.accounts(id);
ALTER TABLE ONLY @.response_items
    ADD CONSTRAINT response_items_account_response_fkey FOREIGN KEY (account, response) REFERENCES @.responses(account, id) ON DELETE CASCADE;

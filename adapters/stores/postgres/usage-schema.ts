/** The tables and functions of usage. */
import { sums } from '../sql/usage-columns.ts'
import { refusedTable } from './usage-refused.ts'

/** The columns of counts. NULL while nothing was counted. */
const counts = Object.values(sums)

/** SQL that adds the rows of `new` to the sums in a table, by periods of `ms` milliseconds and by the labels given. */
function addingTo(table: string, ms: number, labels: string): string {
  const added = counts.map((name) => `${name} = coalesce(s.${name} + excluded.${name}, s.${name}, excluded.${name})`)
  return `INSERT INTO @.${table} AS s
    SELECT of.label, floor(started_at / ${ms})::int AS number, count(*), count(outcome),
      ${counts.map((name) => `sum(${name})`).join(', ')}, sum(cost)
    FROM new CROSS JOIN LATERAL (${labels}) of (label) GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (label, number) DO UPDATE SET
      requests = s.requests + excluded.requests, incomplete = s.incomplete + excluded.incomplete,
      ${added.join(', ')}, cost = s.cost + excluded.cost`
}

/** Continues the statement that makes `new`: adds its rows to all sums. */
const addingToAll = `, days AS (${addingTo('usage_days', 86_400_000, 'VALUES (new.label)')})
    ${addingTo('usage_quarters', 900_000, 'VALUES (new.label), ((SELECT l.within FROM @.usage_labels l WHERE l.label = new.label))')}`

/**
 * A label holds the properties that many requests share, such as account, key and model; each request is a narrow row of
 * `calls`. Each append also updates sums per quarter of an hour: of the label, and of the label without account and key
 * (`within`), for statistics over all accounts. Sums of the label are also kept per day (UTC), so that statistics by account
 * read few rows.
 *
 * A column is NULL for its most common value. Properties without a column are stored in `rest`.
 */
const tables = `
  CREATE TABLE @.usage_labels (
    label int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE,
    within int REFERENCES @.usage_labels,
    account text COLLATE "C",
    key text COLLATE "C",
    "group" text COLLATE "C" NOT NULL,
    endpoint text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    provider text,
    provider_model text,
    "user" text COLLATE "C",
    tags jsonb
  );
  CREATE INDEX usage_labels_account ON @.usage_labels (account) WHERE within IS NOT NULL;
  CREATE INDEX usage_labels_key ON @.usage_labels (key) WHERE within IS NOT NULL;

  CREATE TABLE @.calls (
    started_at float8 NOT NULL,
    total_ms float8 NOT NULL,
    cost bigint NOT NULL,
    label int NOT NULL,
    stream bool NOT NULL,
    id text COLLATE "C" PRIMARY KEY,
    prompt_tokens numeric,
    completion_tokens numeric,
    cached_tokens numeric,
    reasoning_tokens numeric,
    images numeric,
    seconds numeric,
    first_byte_ms numeric,
    overage numeric,
    outcome text,
    code text,
    basis text,
    rest jsonb,
    session text COLLATE "C",
    attempts int
  );
  CREATE INDEX calls_label ON @.calls (label, started_at);
  CREATE INDEX calls_started_at ON @.calls (started_at);

  CREATE TABLE @.usage_quarters (
    label int NOT NULL,
    number int NOT NULL,
    requests int NOT NULL,
    incomplete int NOT NULL,
    ${counts.map((name) => `${name} numeric`).join(', ')},
    cost numeric NOT NULL,
    PRIMARY KEY (label, number)
  ) WITH (fillfactor = 85);
  CREATE TABLE @.usage_days (LIKE @.usage_quarters INCLUDING ALL) WITH (fillfactor = 85);
  CREATE TABLE @.usage_users (
    account text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, "user")
  );
  CREATE INDEX usage_labels_user ON @.usage_labels ("user") WHERE "user" IS NOT NULL;
  CREATE INDEX calls_session ON @.calls (session, started_at) WHERE session IS NOT NULL;
  CREATE INDEX calls_session_label ON @.calls (label) WHERE session IS NOT NULL;
  CREATE INDEX calls_outcome ON @.calls (outcome, started_at) WHERE outcome IS NOT NULL;
  CREATE INDEX calls_outcome_label ON @.calls (label, outcome, started_at) WHERE outcome IS NOT NULL;
  CREATE INDEX calls_code ON @.calls (code, started_at) WHERE code IS NOT NULL;
  CREATE INDEX usage_labels_model ON @.usage_labels (model) WHERE within IS NOT NULL;
  CREATE INDEX calls_code_label ON @.calls (label, code, started_at) WHERE code IS NOT NULL;
`

const functions = `
  CREATE FUNCTION @.usage_record(c @.calls, l @.usage_labels) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $f$
    SELECT jsonb_strip_nulls(jsonb_build_object(
      'id', c.id, 'account', l.account, 'key', nullif(l.key, ''), 'user', l."user", 'session', c.session, 'tags', l.tags,
      'group', l."group", 'endpoint', l.endpoint, 'model', l.model, 'provider', l.provider,
      'providerModel', l.provider_model, 'outcome', coalesce(c.outcome, 'completed'), 'code', c.code,
      'attempts', c.attempts, 'stream', c.stream,
      'promptTokens', coalesce(c.prompt_tokens, 0), 'cachedTokens', coalesce(c.cached_tokens, 0),
      'completionTokens', coalesce(c.completion_tokens, 0), 'reasoningTokens', coalesce(c.reasoning_tokens, 0),
      'images', coalesce(c.images, 0), 'seconds', coalesce(c.seconds, 0),
      'cost', c.cost::text, 'overage', coalesce(c.overage, 0)::text, 'basis', coalesce(c.basis, 'reported'),
      'startedAt', c.started_at, 'firstByteMs', c.first_byte_ms, 'totalMs', c.total_ms
    )) || coalesce(c.rest - ARRAY['user', 'session', 'tags'], '{}')
  $f$;

  -- Declared STABLE, like the functions it calls, because only then does the planner inline it.
  CREATE FUNCTION @.usage_digest(r jsonb, whole bool) RETURNS bytea LANGUAGE sql STABLE AS $f$
    SELECT sha256(convert_to((CASE WHEN whole
      THEN jsonb_build_array(r->'group', r->'endpoint', r->'model')
      ELSE jsonb_build_array(r->'group', r->'endpoint', r->'model', r->'account', coalesce(r->>'key', ''),
        r->'provider', r->'providerModel')
    END || CASE WHEN NOT whole AND r ?| ARRAY['user', 'tags'] THEN jsonb_build_array(r->'user', r->'tags') ELSE '[]'
    END)::text, 'UTF8'))
  $f$;

  CREATE FUNCTION @.append_usage(records jsonb) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan AS $f$
  DECLARE
    given jsonb[];
    own bytea[];
    whole bytea[];
  BEGIN
    -- Scalar subqueries, because for a join the planner may decide to read all labels.
    SELECT array_agg(r), array_agg(@.usage_digest(r, false)), array_agg(@.usage_digest(r, true)) INTO given, own, whole
    FROM (SELECT r FROM jsonb_array_elements(records) r ORDER BY r->>'id' COLLATE "C") one;

    INSERT INTO @.usage_labels (digest, "group", endpoint, model)
    SELECT DISTINCT ON (digest) digest, r->>'group', r->>'endpoint', r->>'model'
    FROM unnest(given, whole) g (r, digest)
    WHERE (SELECT l.label FROM @.usage_labels l WHERE l.digest = g.digest) IS NULL
    ORDER BY digest ON CONFLICT DO NOTHING;

    INSERT INTO @.usage_labels (digest, within, account, key, "group", endpoint, model, provider, provider_model, "user", tags)
    SELECT DISTINCT ON (digest) digest, (SELECT l.label FROM @.usage_labels l WHERE l.digest = g.of_all),
      r->>'account', coalesce(r->>'key', ''), r->>'group', r->>'endpoint', r->>'model', r->>'provider',
      r->>'providerModel', r->>'user', r->'tags'
    FROM unnest(given, own, whole) g (r, digest, of_all)
    WHERE (SELECT l.label FROM @.usage_labels l WHERE l.digest = g.digest) IS NULL
    ORDER BY digest ON CONFLICT DO NOTHING;

    WITH new AS (
      INSERT INTO @.calls (id, label, started_at, total_ms, cost, stream, prompt_tokens, completion_tokens, cached_tokens,
        reasoning_tokens, images, seconds, first_byte_ms, overage, outcome, code, basis, session, attempts, rest)
      SELECT r->>'id', (SELECT l.label FROM @.usage_labels l WHERE l.digest = g.digest),
        (r->>'startedAt')::float8, (r->>'totalMs')::float8, (r->>'cost')::bigint, (r->>'stream')::bool,
        nullif((r->>'promptTokens')::numeric, 0), nullif((r->>'completionTokens')::numeric, 0),
        nullif((r->>'cachedTokens')::numeric, 0), nullif((r->>'reasoningTokens')::numeric, 0),
        nullif((r->>'images')::numeric, 0), nullif((r->>'seconds')::numeric, 0),
        (r->>'firstByteMs')::numeric, nullif((r->>'overage')::numeric, 0),
        nullif(r->>'outcome', 'completed'), r->>'code', nullif(r->>'basis', 'reported'),
        r->>'session', (r->>'attempts')::int,
        nullif(r - ARRAY['id', 'account', 'key', 'user', 'session', 'tags', 'group', 'endpoint', 'model', 'provider',
          'providerModel', 'outcome', 'code', 'attempts', 'stream', 'promptTokens', 'cachedTokens', 'completionTokens',
          'reasoningTokens', 'images', 'seconds', 'cost', 'overage', 'basis', 'startedAt', 'firstByteMs', 'totalMs'], '{}')
      FROM unnest(given, own) g (r, digest)
      ON CONFLICT DO NOTHING RETURNING *
    )${addingToAll};
  END
  $f$;

  CREATE FUNCTION @.admit_users(named jsonb, most int) RETURNS jsonb LANGUAGE plpgsql AS $f$
  DECLARE
    each record;
    admitted jsonb := '{}';
    is_admitted bool;
  BEGIN
    FOR each IN
      SELECT n->>'account' AS account, n->>'user' AS name, place
      FROM jsonb_array_elements(named) WITH ORDINALITY e (n, place)
      ORDER BY n->>'account' COLLATE "C", place
    LOOP
      is_admitted := EXISTS (SELECT FROM @.usage_users u WHERE u.account = each.account AND u."user" = each.name);
      IF NOT is_admitted AND (SELECT count(*) FROM @.usage_users u WHERE u.account = each.account) < most THEN
        -- Until the end of the transaction, no other process admits a user of the account.
        PERFORM pg_advisory_xact_lock(hashtext('@.usage_users'), hashtext(each.account));
        INSERT INTO @.usage_users (account, "user") SELECT each.account, each.name
        WHERE (SELECT count(*) FROM @.usage_users u WHERE u.account = each.account) < most ON CONFLICT DO NOTHING;
        is_admitted := EXISTS (SELECT FROM @.usage_users u WHERE u.account = each.account AND u."user" = each.name);
      END IF;
      admitted := admitted || jsonb_build_object(each.place, is_admitted);
    END LOOP;
    RETURN admitted;
  END
  $f$`

/** The function that anonymises a part of the records. The labels come last, because they select the records. */
const anonymiseFunction = `
  CREATE FUNCTION @.anonymise_usage(of_account text, of_user text, new_account text, most int) RETURNS bool
  LANGUAGE plpgsql AS $f$
  DECLARE
    changed int;
  BEGIN
    UPDATE @.calls SET session = NULL, rest = nullif(rest - 'agent', '{}') WHERE ctid = ANY (ARRAY(
      SELECT c.ctid FROM @.usage_labels l JOIN @.calls c ON c.label = l.label AND c.session IS NOT NULL
      WHERE l.account = of_account AND (of_user IS NULL OR l."user" = of_user) LIMIT most
    ));
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
      RETURN true;
    END IF;
    -- A random digest: appended records never get an anonymised label.
    UPDATE @.usage_labels SET account = new_account, key = '', "user" = NULL, tags = NULL,
      digest = sha256(convert_to(label || ' ' || random() || clock_timestamp(), 'UTF8'))
    WHERE account = of_account AND within IS NOT NULL AND (of_user IS NULL OR "user" = of_user);
    DELETE FROM @.usage_users WHERE account = of_account AND (of_user IS NULL OR "user" = of_user);
    RETURN false;
  END
  $f$`

/** The tables and functions of usage. */
export const usageSchema: string = [tables, refusedTable, functions, anonymiseFunction].join(';\n')

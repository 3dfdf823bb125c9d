/** Users, tags and sessions of usage records: the fourth version of the part `usage`. */
import type { Step } from './migration.ts'
import { anonymiseFunction } from './anonymise.ts'

/**
 * User and tags are part of the label, session and attempts of the request. Records appended before this version is
 * installed keep none of them.
 *
 * @param addSums The end of `append_usage`: adds the rows of `new` to all sums.
 */
export function attributionSteps(addSums: string): readonly Step[] {
  return [{ run: tables }, { run: functions(addSums) }, { run: anonymiseFunction }, ...indexes]
}

const tables = `
  ALTER TABLE @.usage_labels ADD COLUMN IF NOT EXISTS "user" text COLLATE "C", ADD COLUMN IF NOT EXISTS tags jsonb;
  ALTER TABLE @.calls ADD COLUMN IF NOT EXISTS session text COLLATE "C", ADD COLUMN IF NOT EXISTS attempts int;
  CREATE TABLE IF NOT EXISTS @.usage_users (
    account text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    PRIMARY KEY (account, "user")
  )`

const indexes: readonly Step[] = [
  { index: 'usage_labels_user', table: 'usage_labels', on: '("user") WHERE "user" IS NOT NULL' },
  { index: 'calls_session', table: 'calls', on: '(session, started_at) WHERE session IS NOT NULL' },
  { index: 'calls_session_label', table: 'calls', on: '(label) WHERE session IS NOT NULL' },
  { index: 'calls_outcome', table: 'calls', on: '(outcome, started_at) WHERE outcome IS NOT NULL' },
  { index: 'calls_outcome_label', table: 'calls', on: '(label, outcome, started_at) WHERE outcome IS NOT NULL' },
  { index: 'calls_code', table: 'calls', on: '(code, started_at) WHERE code IS NOT NULL' },
]

function functions(addSums: string): string {
  return `
  CREATE OR REPLACE FUNCTION @.usage_record(c @.calls, l @.usage_labels) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $f$
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
  CREATE OR REPLACE FUNCTION @.usage_digest(r jsonb, whole bool) RETURNS bytea LANGUAGE sql STABLE AS $f$
    SELECT sha256(convert_to((CASE WHEN whole
      THEN jsonb_build_array(r->'group', r->'endpoint', r->'model')
      ELSE jsonb_build_array(r->'group', r->'endpoint', r->'model', r->'account', coalesce(r->>'key', ''),
        r->'provider', r->'providerModel')
    END || CASE WHEN NOT whole AND r ?| ARRAY['user', 'tags'] THEN jsonb_build_array(r->'user', r->'tags') ELSE '[]'
    END)::text, 'UTF8'))
  $f$;

  CREATE OR REPLACE FUNCTION @.append_usage(records jsonb) RETURNS void LANGUAGE plpgsql
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
      WHERE (SELECT old.id FROM @.usage_1 old WHERE old.id = r->>'id') IS NULL
      ON CONFLICT DO NOTHING RETURNING *
    )${addSums};
  END
  $f$;

  CREATE OR REPLACE FUNCTION @.admit_users(named jsonb, most int) RETURNS jsonb LANGUAGE plpgsql AS $f$
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
}

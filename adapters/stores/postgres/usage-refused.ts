/** The records of refused requests. */
import type { UsageFilter } from '../index.ts'
import { conditions } from './conditions.ts'

/**
 * Refused requests have a table of their own, which no function adds to the sums, and no labels: the model names in them are
 * chosen by clients.
 */
export const refusedTable: string = `
  CREATE TABLE @.refused (
    id text COLLATE "C" PRIMARY KEY,
    started_at float8 NOT NULL,
    account text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    model text COLLATE "C" NOT NULL,
    "user" text COLLATE "C",
    session text COLLATE "C",
    code text,
    record jsonb NOT NULL
  );
  CREATE INDEX refused_at ON @.refused (started_at, id);
  CREATE INDEX refused_account ON @.refused (account, started_at, id);
  CREATE INDEX refused_key ON @.refused (key, started_at, id) WHERE key IS NOT NULL;
  CREATE INDEX refused_model ON @.refused (model, started_at, id);
  CREATE INDEX refused_user ON @.refused ("user", started_at, id) WHERE "user" IS NOT NULL;
  CREATE INDEX refused_session ON @.refused (session, started_at, id) WHERE session IS NOT NULL;
  CREATE INDEX refused_code ON @.refused (code, started_at, id) WHERE code IS NOT NULL;`

/** The statement that adds records, given as JSON. */
export const appendingRefused: string = `
  INSERT INTO @.refused (id, started_at, account, key, model, "user", session, code, record)
  SELECT r->>'id', (r->>'startedAt')::float8, r->>'account', r->>'key', r->>'model', r->>'user', r->>'session', r->>'code', r
  FROM jsonb_array_elements($1::jsonb) r ON CONFLICT DO NOTHING`

/** Conditions on records of refused requests. Appends to `values`. */
export function refusedConditions(values: unknown[], question: UsageFilter): string[] {
  const { account, key, model, user, tag, session, code, from, to } = question
  return [
    ...conditions(values, {
      'account =': account,
      'key =': key,
      'model =': model,
      '"user" =': user,
      'session =': session,
      'code =': code,
      'started_at >=': from,
      'started_at <': to,
    }),
    ...(tag === undefined ? [] : [`record->'tags' ? $${values.push(tag)}`]),
  ]
}

/** The statement that anonymises at most `$4` records of the account `$1`, or of its user `$2`, and returns one row for each. */
export const anonymisingRefused: string = `
  UPDATE @.refused SET account = $3, key = NULL, "user" = NULL, session = NULL,
    record = record - ARRAY['key', 'user', 'session', 'agent', 'tags'] || jsonb_build_object('account', $3::text)
  WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM @.refused WHERE account = $1 AND ($2::text IS NULL OR "user" = $2)
      AND ($3 <> account OR key IS NOT NULL OR "user" IS NOT NULL OR session IS NOT NULL)
    LIMIT $4 FOR UPDATE
  )) RETURNING 1`

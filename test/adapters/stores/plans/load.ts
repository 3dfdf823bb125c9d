/** Fills the tables of a Postgres schema as after some months of use. */
import { dialect } from '../../../../adapters/stores/postgres/dialect.ts'
import { addingCalls } from '../../../../adapters/stores/sql/usage-tables.ts'
import type { Explained } from './postgres.ts'

/** Inserts `rows` rows into every table. In tables with an end, 300 of them have expired. */
export async function load({ query }: Pick<Explained, 'query'>, schema: string, rows: number): Promise<void> {
  const series = `generate_series(1, ${rows}) n`
  const ends = `now() + interval '2 hours' * CASE WHEN n <= 300 THEN -1 ELSE n END`
  const endsMs = `extract(epoch FROM ${ends}) * 1000`
  const inserts = [
    `accounts (id, balance) SELECT 'account ' || n, 1000000 FROM ${series}`,
    `keys (id, hash, account, created_at, version, record, changed) SELECT 'key ' || n, 'hash ' || n,
      'account ' || n, n, 1, '{}', extract(epoch FROM now()) * 1000 - n * 60000.0 FROM ${series}`,
    `vendor_keys (account, provider, sealed, hint, created_at) SELECT 'account ' || n, 'openai', 's', 'h', n FROM ${series}`,
    `buckets (name) SELECT 'rate account ' || n FROM ${series}`,
    `buckets (name, held, soonest) SELECT 'places account ' || n, 1, now() + interval '1 hour' FROM ${series}`,
    `places (bucket, holder, ends) SELECT 'places account ' || n, 'holder ' || n, now() + interval '1 hour' FROM ${series}`,
    `holds (id, account, amount, ends) SELECT 'held ' || n, 'account ' || n, 1, ${ends} FROM ${series}`,
    `caps (name, kind, soonest) SELECT 'cap ' || n, 'always', ${ends} FROM ${series}`,
    `cap_use (name, kind, start, counts_until) SELECT 'cap ' || n, 'always', 0, ${endsMs}
      FROM ${series}`,
    `cap_holds (hold, name, kind, start, money, tokens) SELECT 'held ' || n, 'cap ' || n % 1000, 'always', 0, 0, 0
      FROM ${series}`,
    `cap_charges (hold, account, refundable, caps, ends) SELECT 'reference ' || n, 'account ' || n, 1, '[]', ${ends}
      FROM ${series}`,
    `cap_overrides (name, temporary, limits) SELECT 'cap ' || n, false, '{}' FROM ${series}`,
    `notices (id, notice, settlement, account, value, due) SELECT 'mark ' || n, '', '', '', 0,
      CASE WHEN n % 100 = 0 THEN extract(epoch FROM now()) * 1000 + n * 60000.0 END FROM ${series}`,
    `entries (account, kind, reference, amount) SELECT 'account ' || (n % 1000 + 1),
      CASE WHEN n % 10 = 0 THEN 'credit' ELSE 'settle' END, 'reference ' || n, 1 FROM ${series}`,
    ...['tasks', 'background', 'batches', 'file_batches', 'files'].map(
      (table) => `${table} SELECT 'account ' || (n % 1000 + 1), 'task ' || n, 1, n, (${endsMs})::bigint,
      CASE WHEN n % 2 = 0 THEN extract(epoch FROM now()) * 1000 + n * 1000 - 20000 END, 0, '{}' FROM ${series}`,
    ),
    `audit_log (number, at, action, account, actor, content, digest, hash) SELECT n, n, 'keys.create', 'account ' || (n % 1000 + 1),
      'operator', '{}', '', '' FROM ${series}`,
    `registry (kind, id, version, value, changed) SELECT 'model', 'model ' || n, 1, '{}', n FROM ${series}`,
    `idempotency (account, route, key, attempt, digest, ends) SELECT 'account ' || (n % 1000 + 1), 'r', 'k ' || n, 'a',
      'd', ${endsMs} - 3600000 FROM ${series}`,
    `responses (account, id, items, body, ends) SELECT 'account ' || (n % 1000 + 1), 'resp ' || n, '[]', '{}', ${endsMs}
      FROM ${series}`,
    `content (id, account, "user", day, key, session, at, body) SELECT 'req ' || n, 'account ' || (n % 1000 + 1),
      'user ' || n % 5000, to_char(date '2030-01-01' + n % 30, 'YYYY-MM-DD'), 'key ' || n, 'session ' || n / 10, n, ''
      FROM ${series}`,
    `content_keys (id, account, "user", day, sealed) SELECT 'key ' || n, 'account ' || (n % 1000 + 1),
      'user ' || n % 5000, to_char(date '2030-01-01' + n % 30, 'YYYY-MM-DD'), 's' FROM ${series}`,
    `refused (id, started_at, account, key, model, "user", session, code, record) SELECT 'refused ' || n, 1.7e12 + n,
      'account ' || n % 1000, 'key ' || n % 1000, 'model ' || n % 1000, 'user ' || n % 1000, 'session ' || n, 'code ' || n % 20,
      json_build_object('id', 'refused ' || n, 'startedAt', 1.7e12 + n, 'cost', '0', 'overage', '0') FROM ${series}`,
    `usage_users (account, "user", place) SELECT 'account ' || (n % 1000 + 1), 'user ' || n, n FROM ${series}`,
    `response_items (account, item, response) SELECT 'account ' || (n % 1000 + 1), 'item ' || n, 'resp ' || n FROM ${series}`,
  ]
  await query('SET session_replication_role = replica')
  await query('SET auto_explain.log_min_duration = -1')
  for (const insert of inserts) await query(`INSERT INTO ${schema}.${insert}`)
  for (const insert of usage(rows)) await query(insert.replaceAll('@.', `${schema}.`))
  // Not the whole database, where other tests want tables without statistics.
  await query(`DO $$ DECLARE each text; BEGIN
    FOR each IN SELECT oid::regclass FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r'
    LOOP EXECUTE 'ANALYZE ' || each; END LOOP; END $$`)
  await query('RESET session_replication_role')
  await query('SET auto_explain.log_min_duration = 0')
}

/** Requests with at most 40,000 labels of 50 models. */
function usage(rows: number): string[] {
  const labels = Math.min(rows, 40_000)
  return [
    `INSERT INTO @.usage_labels (digest, "group", endpoint, model)
      SELECT 'whole ' || n, 'g', 'chat.completions', 'model ' || n FROM generate_series(0, 49) n`,
    `INSERT INTO @.usage_labels (digest, within, account, key, "group", endpoint, model, "user")
      SELECT 'label ' || n, n % 50 + 1, 'account ' || (n % 1000 + 1), 'key ' || (n % 1000 + 1), 'g', 'chat.completions',
        'model ' || n % 50, 'user ' || n
      FROM generate_series(0, ${labels - 1}) n`,
    `INSERT INTO @.calls (id, label, started_at, total_ms, cost, stream, prompt_tokens, completion_tokens,
        session, outcome, code)
      SELECT 'req ' || n, 51 + n % ${labels}, 1.7e12 + n * 10000.0, 12, 30, false, 10, 5,
        CASE WHEN n % 3 = 0 THEN 'session ' || n / 30 END, CASE WHEN n % 50 = 0 THEN 'failed' END,
        CASE WHEN n % 50 = 0 THEN 'server_error' END
      FROM generate_series(1, ${rows}) n`,
    ...addingCalls(dialect, '(SELECT * FROM @.calls)'),
  ]
}

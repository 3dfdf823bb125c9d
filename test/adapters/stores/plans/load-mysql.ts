/** Fills the tables of MariaDB as after some months of use. */
import { dialect, translated } from '../../../../adapters/stores/mysql/dialect.ts'
import { addingCalls } from '../../../../adapters/stores/sql/usage-tables.ts'

type Run = (text: string) => Promise<void>

/** A query for the numbers `n` from 1 on. */
function series(rows: number): string {
  const digits =
    '(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)'
  const places = Array.from({ length: Math.ceil(Math.log10(rows + 1)) }, (_, place) => place)
  const sum = places.map((place) => `d${place}.d * ${10 ** place}`).join(' + ')
  const from = places.map((place) => `${digits} d${place}`).join(' CROSS JOIN ')
  return `(SELECT * FROM (SELECT ${sum} AS n FROM ${from}) numbers WHERE n BETWEEN 1 AND ${rows}) numbers`
}

/** Inserts `rows` rows into every table. In tables with an end, 300 of them have expired. */
export async function loadMysql(run: Run, prefix: string, rows: number): Promise<void> {
  const all = series(rows)
  const ends = `${dialect.now} + 7200000 * IF(n <= 300, -1, n)`
  const labels = Math.min(rows, 40_000)
  const inserts = [
    `accounts (id, balance) SELECT concat('account ', n), 1000000 FROM ${all}`,
    `keys (id, hash, account, created_at, version, record, changed) SELECT concat('key ', n), concat('hash ', n),
      concat('account ', n), n, 1, '{}', ${dialect.now} - n * 60000.0 FROM ${all}`,
    `vendor_keys (account, provider, sealed, hint, created_at) SELECT concat('account ', n), 'openai', 's', 'h', n FROM ${all}`,
    `buckets (name, held, soonest) SELECT concat('places account ', n), 1, ${dialect.now} + 3600000 FROM ${all}`,
    `places (bucket, holder, ends) SELECT concat('places account ', n), concat('holder ', n), ${dialect.now} + 3600000 FROM ${all}`,
    `holds (id, account, amount, ends) SELECT concat('held ', n), concat('account ', n), 1, ${ends} FROM ${all}`,
    `entries (account, kind, is_credit, reference, amount) SELECT concat('account ', n % 1000 + 1),
      IF(n % 10 = 0, 'credit', 'settle'), n % 10 = 0, concat('reference ', n), 1 FROM ${all}`,
    `caps (cap, soonest) SELECT concat('cap ', n), ${ends} FROM ${all}`,
    `cap_use (cap, start, ends, money, tokens, calls, held_money, held_tokens, held_calls)
      SELECT concat('cap ', n), 0, ${ends}, 0, 0, 0, 0, 0, 0 FROM ${all}`,
    `cap_holds (hold, cap, start, money, tokens) SELECT concat('held ', n), concat('cap ', n % 1000), 0, 0, 0 FROM ${all}`,
    `cap_charges (hold, account, refundable, caps, ends) SELECT concat('reference ', n), concat('account ', n), 1, '[]', ${ends} FROM ${all}`,
    `cap_overrides (name, temporary, limits) SELECT concat('cap ', n), false, '{}' FROM ${all}`,
    `notices (id, notice, settlement, account, value, due) SELECT concat('mark ', n), '', '', concat('account ', n % 1000), 0,
      IF(n % 100 = 0, ${dialect.now} + n * 60000.0, NULL) FROM ${all}`,
    `tasks SELECT concat('account ', n % 1000 + 1), concat('task ', n), 1, n, ${ends},
      IF(n % 2 = 0, ${dialect.now} + n * 1000 - 20000, NULL), 0, '{}' FROM ${all}`,
    `idempotency (account, route, "key", attempt, digest, ends) SELECT concat('account ', n % 1000 + 1), 'r', concat('k ', n),
      'a', 'd', ${ends} - 3600000 FROM ${all}`,
    `responses (account, id, items, body, ends) SELECT concat('account ', n % 1000 + 1), concat('resp ', n), '[]', '{}', ${ends} FROM ${all}`,
    `response_items (account, item, response) SELECT concat('account ', n % 1000 + 1), concat('item ', n), concat('resp ', n) FROM ${all}`,
    `refused (id, started_at, account, "key", model, "user", session, code, record) SELECT concat('refused ', n), 1.7e12 + n,
      concat('account ', n % 1000), concat('key ', n % 1000), concat('model ', n % 1000), concat('user ', n % 1000),
      concat('session ', n), concat('code ', n % 20), json_object('id', concat('refused ', n), 'startedAt', 1.7e12 + n, 'cost', '0', 'overage', '0') FROM ${all}`,
    `usage_users (account, "user", place) SELECT concat('account ', n % 1000 + 1), concat('user ', n), n FROM ${all}`,
    `usage_labels (label, digest, "group", endpoint, model) SELECT n, concat('whole ', n), 'g', 'chat.completions', concat('model ', n) FROM ${series(50)}`,
    `usage_labels (label, digest, within, account, "key", "group", endpoint, model, "user") SELECT 50 + n, concat('label ', n), n % 50 + 1,
      concat('account ', n % 1000 + 1), concat('key ', n % 1000 + 1), 'g', 'chat.completions', concat('model ', n % 50),
      concat('user ', n) FROM ${series(labels)}`,
    `calls (id, label, started_at, total_ms, cost, stream, prompt_tokens, completion_tokens, session, outcome, code)
      SELECT concat('req ', n), 51 + n % ${labels}, 1.7e12 + n * 10000.0, 12, 30, false, 10, 5,
        IF(n % 3 = 0, concat('session ', n DIV 30), NULL), IF(n % 50 = 0, 'failed', NULL), IF(n % 50 = 0, 'server_error', NULL)
      FROM ${all}`,
  ]
  const sums = addingCalls(dialect, '(SELECT * FROM @.calls)')
  await run('SET foreign_key_checks = 0')
  const tables = new Set<string>()
  for (const insert of inserts) {
    tables.add(`${prefix}${insert.split(' ')[0] ?? ''}`)
    await run(`INSERT INTO ${prefix}${translated(insert)}`)
  }
  for (const text of sums) await run(translated(text).replaceAll('@.', prefix))
  await run('SET foreign_key_checks = 1')
  await run(`ANALYZE TABLE ${[...tables, `${prefix}usage_days`, `${prefix}usage_quarters`].join(', ')}`)
}

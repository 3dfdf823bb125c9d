/** The tables of usage, and the statements that add to the sums. */
import type { Dialect } from './sql.ts'
import {
  addedColumns,
  amountColumns,
  amountParts,
  callFields,
  definitionsOf,
  labelFields,
  missingAmounts,
  missingParts,
  refusedFields,
  sumColumns,
} from './usage-columns.ts'

/**
 * A label holds what many requests share, such as account, key and model; each request is a narrow row of `calls`. Its columns
 * are NULL for 0 and for the most common value. Sums are kept by the label, and for statistics over all accounts by the label
 * without account and key (`within`): by quarter of an hour, and of labels with an account also by day (UTC), so that
 * statistics by account read few rows. The digest of a label finds it by all its columns. Refused requests have a table of their own, which nothing adds to the sums, and no labels:
 * the model names in them are chosen by clients.
 *
 * Of equally good indexes SQLite, which has no statistics, takes the last one: of users or sessions there are many.
 */
export function usageTables(dialect: Dialect): string {
  const { types, table, keyed, index } = dialect
  const { name, integer, int, real, identity } = types
  return `
    CREATE TABLE @.usage_labels (
      label ${identity},
      digest ${name} UNIQUE,
      within ${int},
      ${definitionsOf(dialect, labelFields, true)}
    ) ${table};
    CREATE INDEX ${index}usage_labels_of ON @.usage_labels (account, key, model) ${some('within')};
    CREATE INDEX ${index}usage_labels_key ON @.usage_labels (key, model) ${some('within')};
    CREATE INDEX ${index}usage_labels_model ON @.usage_labels (model, account) ${some('within')};
    CREATE INDEX ${index}usage_labels_user ON @.usage_labels ("user", account) ${some('"user"')};
    ${['quarters', 'days']
      .map(
        (table) => `CREATE TABLE @.usage_${table} (
      label ${int} NOT NULL,
      number ${int} NOT NULL,
      requests ${int} NOT NULL,
      incomplete ${int} NOT NULL,
      ${sumColumns.map((column) => `${column} ${real}`).join(', ')},
      ${amountColumns.map((column) => `${column} ${integer} NOT NULL`).join(', ')},
      ${missingAmounts.map((column) => `${column} ${int} NOT NULL`).join(', ')},
      PRIMARY KEY (label, number)
    ) ${keyed}`,
      )
      .join(';')};
    CREATE TABLE @.calls (
      label ${int} NOT NULL,
      ${definitionsOf(dialect, callFields)},
      PRIMARY KEY (id)
    ) ${table};
    CREATE INDEX ${index}calls_of ON @.calls (label, started_at);
    CREATE INDEX ${index}calls_at ON @.calls (started_at);
    CREATE INDEX ${index}calls_session_of ON @.calls (label) ${some('session')};
    CREATE INDEX ${index}calls_outcome ON @.calls (outcome, started_at) ${some('outcome')};
    CREATE INDEX ${index}calls_outcome_of ON @.calls (label, outcome, started_at) ${some('outcome')};
    CREATE INDEX ${index}calls_code ON @.calls (code, started_at) ${some('code')};
    CREATE INDEX ${index}calls_code_of ON @.calls (label, code, started_at) ${some('code')};
    CREATE INDEX ${index}calls_session ON @.calls (session, started_at) ${some('session')};
    CREATE TABLE @.refused (
      ${definitionsOf(dialect, refusedFields)},
      record ${types.text} NOT NULL,
      PRIMARY KEY (id)
    ) ${keyed};
    CREATE INDEX ${index}refused_at ON @.refused (started_at, id);
    CREATE INDEX ${index}refused_of ON @.refused (account, started_at, id);
    CREATE INDEX ${index}refused_model ON @.refused (model, started_at, id);
    ${['key', '"user"', 'session', 'code']
      .map((column) => {
        const named = `${index}refused_${column.replaceAll('"', '')}`
        return `CREATE INDEX ${named} ON @.refused (${column}, started_at, id) ${some(column)};`
      })
      .join('\n')}
    CREATE TABLE @.usage_users (
      account ${name} NOT NULL,
      "user" ${name} NOT NULL,
      place ${int} NOT NULL,
      PRIMARY KEY (account, "user"),
      UNIQUE (account, place)
    ) ${keyed};`
}

function some(column: string): string {
  return `WHERE ${column} IS NOT NULL`
}

/** The statements that add `calls`, a table or a query in brackets with requests that are new, to the sums. */
export function addingCalls({ adding }: Dialect, calls: string): readonly [days: string, quarters: string] {
  const label = `CASE way WHEN 0 THEN c.label ELSE (SELECT l.within FROM @.usage_labels l WHERE l.label = c.label) END`
  const summed = (ms: number, ways: string) => `
    SELECT label, number, count(*) AS requests, count(outcome) AS incomplete,
      ${sumColumns.map((column) => `sum(${column}) AS ${column}`).join(', ')},
      ${[...amountColumns, ...missingAmounts].map((column) => `sum(${column}) AS ${column}`).join(', ')}
    FROM (
      SELECT ${label} AS label, floor(c.started_at / ${ms}) AS number, c.outcome,
        ${[...sumColumns, ...amountParts, ...missingParts].join(', ')}
      FROM ${calls} c CROSS JOIN (${ways}) ways
    ) added GROUP BY label, number ORDER BY label, number`
  const keys = ['label', 'number']
  return [
    adding('usage_days', keys, addedColumns, summed(86_400_000, 'SELECT 0 AS way')),
    adding('usage_quarters', keys, addedColumns, summed(900_000, 'SELECT 0 AS way UNION ALL SELECT 1')),
  ]
}

/** Usage: one row for each call of a model. */
import { pageOf } from '../../src/billing/page.ts'
import type { Dimension, UsageFilter, UsageRecord, UsageStore, UsageSummary } from '../../src/index.ts'
import type { Database } from './database.ts'
import type { Part } from './migration.ts'

/** What is asked for and summed up are columns; the record as it was given is kept beside them. */
export const usagePart: Part = {
  name: 'usage',
  versions: [
    `
    CREATE TABLE @.usage (
      id text COLLATE "C" PRIMARY KEY,
      account text COLLATE "C" NOT NULL,
      "group" text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      model text COLLATE "C" NOT NULL,
      endpoint text COLLATE "C" NOT NULL,
      started_at float8 NOT NULL,
      cost bigint NOT NULL,
      record jsonb NOT NULL
    );
    CREATE INDEX ON @.usage (account, started_at, id);
    CREATE INDEX ON @.usage (started_at, id);

    CREATE FUNCTION @.append_usage(records jsonb) RETURNS void LANGUAGE sql AS $f$
      INSERT INTO @.usage (id, account, "group", key, model, endpoint, started_at, cost, record)
      SELECT r->>'id', r->>'account', r->>'group', coalesce(r->>'key', ''), r->>'model', r->>'endpoint',
        (r->>'startedAt')::float8, (r->>'cost')::bigint, r
      FROM jsonb_array_elements(records) r
      ORDER BY r->>'id' COLLATE "C"
      ON CONFLICT DO NOTHING
    $f$;
    `,
  ],
}

const dimensions: Readonly<Record<Dimension, string>> = {
  day: `to_char(to_timestamp(started_at / 1000 + $6 * 60) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  account: 'account',
  group: '"group"',
  key: 'key',
  model: 'model',
  endpoint: 'endpoint',
}

const filters = `($1::text IS NULL OR account = $1) AND ($2::text IS NULL OR key = $2)
  AND ($3::text IS NULL OR model = $3) AND ($4::float8 IS NULL OR started_at >= $4)
  AND ($5::float8 IS NULL OR started_at < $5)`

const sums = ['promptTokens', 'cachedTokens', 'completionTokens', 'reasoningTokens', 'images', 'seconds'] as const

export function postgresUsage(database: Database): UsageStore {
  return {
    async append(records) {
      if (records.length > 0) await database.call('append_usage', JSON.stringify(records.map(storable)))
    },
    async list(question) {
      const { limit = 100, after } = question
      const [startedAt, id] = after === undefined ? [null, null] : (JSON.parse(after) as [number, string])
      const rows = await database.manyRows<{ record: string }>(
        `SELECT record::text FROM @.usage WHERE ${filters}
        AND ($6::float8 IS NULL OR (started_at, id) < ($6, $7::text COLLATE "C"))
        ORDER BY started_at DESC, id DESC LIMIT $8`,
        [...valuesOf(question), startedAt, id, limit + 1],
      )
      const found = rows.map(({ record }) => recordOf(record))
      return pageOf(found, limit, (last) => JSON.stringify([last.startedAt, last.id]))
    },
    async summarise(question) {
      const { by, offsetMinutes = 0 } = question
      const columns = by.map((dimension) => dimensions[dimension])
      const grouped = columns.map((column, index) => `${column} AS d${index}`).concat('count(*) AS requests')
      const places = columns.map((_, index) => index + 1).join(', ')
      const rows = await database.manyRows<{ row: string }>(
        `SELECT to_jsonb(sums)::text AS row FROM (
          SELECT ${grouped.join(', ')}, count(*) FILTER (WHERE record->>'outcome' <> 'completed') AS incomplete,
            ${sums.map((name) => `sum((record->>'${name}')::numeric) AS "${name}"`).join(', ')}, sum(cost)::text AS cost
          FROM @.usage WHERE ${filters} AND $6::float8 IS NOT NULL
          ${places === '' ? 'HAVING count(*) > 0' : `GROUP BY ${places} ORDER BY ${places}`}
        ) sums`,
        [...valuesOf(question), offsetMinutes],
      )
      return rows.map(({ row }) => summaryOf(JSON.parse(row) as Record<string, unknown>, by))
    },
  }
}

function valuesOf({ account, key, model, from, to }: UsageFilter): unknown[] {
  return [account ?? null, key ?? null, model ?? null, from ?? null, to ?? null]
}

/** Names of models may come from clients: the database takes no NUL and no half characters. */
function storable(record: UsageRecord): object {
  const model = record.model.toWellFormed().replaceAll('\0', '\uFFFD')
  return { ...record, model, cost: String(record.cost), overage: String(record.overage) }
}

function recordOf(json: string): UsageRecord {
  const record = JSON.parse(json) as UsageRecord & { cost: string; overage: string }
  return { ...record, cost: BigInt(record.cost), overage: BigInt(record.overage) }
}

function summaryOf(row: Record<string, unknown>, by: readonly Dimension[]): UsageSummary {
  const { cost, ...rest } = row
  const named = by.map((dimension, index) => [dimension, rest[`d${index}`]] as const)
  const counted = Object.entries(rest).filter(([name]) => !/^d\d+$/.test(name))
  return { ...Object.fromEntries(named), ...Object.fromEntries(counted), cost: BigInt(cost as string) } as UsageSummary
}

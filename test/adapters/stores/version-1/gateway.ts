/** What a gateway of version 1 sends to Postgres, as far as an upgrade could break it. */
import type { Pool } from 'pg'
import { readFileSync } from 'node:fs'

/** Makes a schema as version 1 made it: a dump of one. */
export async function createVersion1(pool: Pool, schema: string): Promise<void> {
  const dump = readFileSync(new URL('postgres.sql', import.meta.url), 'utf8')
  const client = await pool.connect()
  await client.query(dump.replaceAll('@', schema))
  client.release(true)
}

export class Version1 {
  readonly #pool: Pool
  readonly #schema: string

  constructor(pool: Pool, schema: string) {
    this.#pool = pool
    this.#schema = schema
  }

  /** A call: limits and hold before it, both endings after it, and its record. */
  async call(id: string, account: string, record: object): Promise<void> {
    const rates = [{ bucket: 'b', cost: 1, limit: 1e9, periodMs: 1_000, burst: 1e9 }]
    const claim = { id, rates, places: [{ bucket: 'p', places: 1_000 }], leaseMs: 60_000 }
    await this.#ask('SELECT @.admit($1, $2, $3, $4, $5) AS result', [JSON.stringify(claim), id, account, '10', 60_000])
    await this.#ask('SELECT @.renew_holds($1, $2) AS result', [JSON.stringify([{ id, account }]), 60_000])
    await this.#ask('SELECT @.renew_places($1, $2) AS result', [JSON.stringify([{ id, places: ['p'] }]), 60_000])
    const returns = [{ id, places: ['p'], corrections: rates }]
    await this.#ask('SELECT @.finish($1, $2) AS result', [
      JSON.stringify(returns),
      JSON.stringify([{ id, account, amount: '7' }]),
    ])
    await this.#ask('SELECT @.append_usage($1) AS result', [JSON.stringify([record])])
  }

  /** The ids of the newest records. */
  async usage(account: string): Promise<string[]> {
    const rows = await this.#ask(
      `SELECT record::text FROM @.usage WHERE ($1::text IS NULL OR account = $1) AND ($2::text IS NULL OR key = $2)
      AND ($3::text IS NULL OR model = $3) AND ($4::float8 IS NULL OR started_at >= $4)
      AND ($5::float8 IS NULL OR started_at < $5)
      AND ($6::float8 IS NULL OR (started_at, id) < ($6, $7::text COLLATE "C"))
      ORDER BY started_at DESC, id DESC LIMIT $8`,
      [account, null, null, null, null, null, null, 1_000],
    )
    return rows.map(({ record }) => (JSON.parse(record as string) as { id: string }).id)
  }

  async cost(account: string): Promise<{ requests: number; cost: string; promptTokens: number }> {
    const [row] = await this.#ask(
      `SELECT count(*)::int AS requests, sum((record->>'promptTokens')::numeric)::int AS "promptTokens",
        count(*) FILTER (WHERE record->>'outcome' <> 'completed') AS incomplete, sum(cost)::text AS cost
      FROM @.usage WHERE ($1::text IS NULL OR account = $1) AND "group" IS NOT NULL AND endpoint IS NOT NULL`,
      [account],
    )
    return {
      requests: Number(row?.['requests']),
      cost: String(row?.['cost']),
      promptTokens: Number(row?.['promptTokens']),
    }
  }

  async #ask(text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
    return (await this.#pool.query(text.replaceAll('@.', `${this.#schema}.`), values)).rows
  }
}

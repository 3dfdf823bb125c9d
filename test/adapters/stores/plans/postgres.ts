/** Postgres with `auto_explain`, which reports the plan of every statement, including those in functions and for foreign keys. */
import { PGlite } from '@electric-sql/pglite'
import { auto_explain } from '@electric-sql/pglite/contrib/auto_explain'
import { Pool, type PoolClient } from 'pg'
import type { Queryable } from '../../../../adapters/stores/postgres/postgres.ts'
import { postgresUrl } from '../../../servers.ts'

export interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly Plan[]
}

/** Plans by the text of their statement. */
export type Plans = Map<string, Plan>

export interface Explained {
  readonly query: Queryable['query']
  /** Returns the plans of the statements since the last call. */
  readonly plans: () => Plans
  readonly close: () => Promise<void>
}

const settings = {
  'auto_explain.log_min_duration': 0,
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
  synchronous_commit: 'off',
}

/** A Postgres server. All statements run in one connection. */
export function explainedPool(): Explained {
  const options = Object.entries({ session_preload_libraries: 'auto_explain', ...settings })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
  const [pool, log] = [new Pool({ connectionString: postgresUrl, max: 1, options }), new PlanLog()]
  pool.on('error', () => undefined)
  pool.on('connect', (client: PoolClient) => client.on('notice', ({ message = '' }) => log.add(message)))
  return {
    query: async (text, values) => pool.query(text, values),
    plans: () => log.take(),
    close: () => pool.end(),
  }
}

/** PGlite, which runs within the process. */
export async function explainedPglite(): Promise<Explained> {
  const [database, log] = [await PGlite.create({ extensions: { auto_explain } }), new PlanLog()]
  await database.exec("LOAD 'auto_explain'")
  for (const [name, value] of Object.entries(settings)) await database.exec(`SET ${name} = ${value}`)
  return {
    query: (text, values) => database.query(text, values, { onNotice: ({ message = '' }) => log.add(message) }),
    plans: () => log.take(),
    close: () => database.close(),
  }
}

/** Collects plans from the notices of `auto_explain`. */
class PlanLog {
  #plans: Plans = new Map()

  add(message: string): void {
    const begin = message.indexOf('{')
    if (!message.startsWith('duration: ') || begin < 0) return
    const { 'Query Text': text, Plan: plan } = JSON.parse(message.slice(begin)) as { 'Query Text': string; Plan: Plan }
    this.#plans.set(text, plan)
  }

  take(): Plans {
    const plans = this.#plans
    this.#plans = new Map()
    return plans
  }
}

/**
 * The nodes of a plan that read a whole table or index. `small`: tables for which this is allowed. Below a `LIMIT`, an index
 * is read only as far as needed, unless a node between them needs all rows.
 */
export function scansOf(plan: Plan, small: readonly string[], limited = false): string[] {
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Cond': condition, Plans: below = [] } = plan
  const whole = type === 'Seq Scan' || (/^Index(?: Only)? Scan$/.test(type) && condition === undefined && !limited)
  const own = whole && !small.includes(table) ? [`${type} of ${table}`] : []
  const fewBelow = type === 'Limit' || (limited && !/^(?:Sort|Aggregate|Hash|Materialize|Bitmap)/.test(type))
  return [...own, ...below.flatMap((each) => scansOf(each, small, fewBelow))]
}

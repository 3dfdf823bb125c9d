/** A Postgres that reports the plan of every statement, including those in functions and for foreign keys. */
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

/** By the text of the statement. */
export type Plans = Map<string, Plan>

export interface Explained {
  readonly query: Queryable['query']
  /** Those of the statements since the last time. */
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

/** The server. Every statement runs in one connection. */
export function explainedPool(): Explained {
  const options = Object.entries({ session_preload_libraries: 'auto_explain', ...settings })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
  const [pool, told] = [new Pool({ connectionString: postgresUrl, max: 1, options }), new Told()]
  pool.on('error', () => undefined)
  pool.on('connect', (client: PoolClient) => client.on('notice', ({ message = '' }) => told.tell(message)))
  return {
    query: async (text, values) => pool.query(text, values),
    plans: () => told.take(),
    close: () => pool.end(),
  }
}

/** The newest Postgres, within the process. */
export async function explainedPglite(): Promise<Explained> {
  const [database, told] = [await PGlite.create({ extensions: { auto_explain } }), new Told()]
  await database.exec("LOAD 'auto_explain'")
  for (const [name, value] of Object.entries(settings)) await database.exec(`SET ${name} = ${value}`)
  return {
    query: (text, values) => database.query(text, values, { onNotice: ({ message = '' }) => told.tell(message) }),
    plans: () => told.take(),
    close: () => database.close(),
  }
}

class Told {
  #plans: Plans = new Map()

  tell(message: string): void {
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
 * The parts of a plan that read a table, or all of an index, from beginning to end. `small`: tables that may be. Below a
 * limit an index is read only as far as needed, unless something between them needs all rows.
 */
export function scansOf(plan: Plan, small: readonly string[], limited = false): string[] {
  const { 'Node Type': type, 'Relation Name': table = '', 'Index Cond': condition, Plans: below = [] } = plan
  const whole = type === 'Seq Scan' || (/^Index(?: Only)? Scan$/.test(type) && condition === undefined && !limited)
  const own = whole && !small.includes(table) ? [`${type} of ${table}`] : []
  const fewBelow = type === 'Limit' || (limited && !/^(?:Sort|Aggregate|Hash|Materialize|Bitmap)/.test(type))
  return [...own, ...below.flatMap((each) => scansOf(each, small, fewBelow))]
}

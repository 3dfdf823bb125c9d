/** No statement that requests, video tasks or sweeps wait for reads a whole table or index of MariaDB. */
import { expect, onTestFinished, test } from 'vitest'
import type { MysqlPool } from '../../../../adapters/stores/mysql/database.ts'
import { mysql } from '../../../../adapters/stores/mysql/mysql.ts'
import { long } from '../../../long.ts'
import { dropTables, hasMysql, mariadbPool, mysqlPool, ownName } from '../../../servers.ts'
import { loadMysql } from './load-mysql.ts'
import { operate, watched } from './operations.ts'
import { statementMs } from '../../../patience.ts'

const rows = long ? 200_000 : 5_000

/** A row of `EXPLAIN`. */
interface Step {
  /** The number of its SELECT. */
  readonly id: number
  readonly table: string | null
  readonly type: string | null
  readonly Extra: string
}

/** The steps that read a whole table or index. With a `LIMIT`, an index is read only as far as needed, unless it is sorted. */
function scansIn(steps: readonly Step[], sql: string): string[] {
  const sorted = new Set(steps.filter(({ Extra }) => /filesort|temporary/.test(Extra)).map(({ id }) => id))
  return steps.flatMap(({ id, table, type, Extra }) => {
    if (table === null || table.startsWith('<') || /Table function/.test(Extra)) return []
    const isWhole = type === 'ALL' || (type === 'index' && (sorted.has(id) || !/\bLIMIT\b/.test(sql)))
    return isWhole ? [`${type} of ${table}`] : []
  })
}

/** Collects the statements with the values of their last run. Without several statements at once, each is sent on its own. */
function collecting(pool: ReturnType<typeof mariadbPool>) {
  const statements = new Map<string, unknown[]>()
  const getConnection = async () => {
    const connection = await pool.getConnection()
    const collected = (method: 'query' | 'execute') => (given: { sql: string }, values: unknown[]) => {
      statements.set(given.sql, values)
      return connection[method](given, values)
    }
    return new Proxy(connection, {
      get(target, name) {
        if (name === 'query' || name === 'execute') return collected(name)
        const value = Reflect.get(target, name) as unknown
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }
  return { pool: { getConnection } as unknown as MysqlPool, statements }
}

test.skipIf(!hasMysql)(
  'MariaDB reads no whole table in any statement of the stores',
  { timeout: long ? 1_800_000 : 120_000 },
  async () => {
    const [plain, used] = [mysqlPool(1), mariadbPool(4, {})]
    const prefix = ownName()
    onTestFinished(async () => {
      await dropTables(plain, prefix)
      await Promise.all([plain.end(), used.end()])
    })
    const { pool, statements } = collecting(used)
    const { bundle, missed } = watched(mysql(pool, { prefix, statementMs }))
    await bundle.keys.find('')
    await loadMysql(async (text) => void (await plain.query(text)), `${prefix}_`, rows)
    statements.clear()
    const polled = Promise.withResolvers<void>()
    const stop = bundle.keys.watch?.(() => polled.resolve())
    await operate(bundle, 'account 1')
    await operate(bundle, 'account 99')
    await polled.promise
    stop?.()
    await bundle.close()

    const scans: Record<string, string[]> = {}
    for (const [sql, values] of statements) {
      if (!/^\s*(?:SELECT|UPDATE|DELETE|INSERT[^(]*\([^)]*\)\s*SELECT|WITH|\()/.test(sql)) continue
      const [steps] = await plain.query(`EXPLAIN ${sql}`, values)
      const found = scansIn(steps as unknown as Step[], sql)
      if (found.length > 0) scans[sql.replaceAll(/\s+/g, ' ')] = found
    }
    expect(statements.size).toBeGreaterThan(40)
    expect(scans).toEqual({})
    expect(missed()).toEqual([])
  },
)

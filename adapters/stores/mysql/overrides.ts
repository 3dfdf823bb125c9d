/** Limits that replace those of caps. */
import type { CapOverride, LedgerCaps } from '../index.ts'
import { bigintsAsText, type TableRow } from '../sql/sql.ts'
import { dialect } from './dialect.ts'
import type { Database } from './database.ts'

export function mysqlOverrides(database: Database): Pick<LedgerCaps, 'override' | 'overrides'> {
  return {
    override: ({ name, limits, until }) =>
      database.use(async (ask) => {
        const temporary = until !== undefined
        if (Object.values(limits).every((limit) => limit === undefined))
          await ask('DELETE FROM @.cap_overrides WHERE name = ? AND temporary = ?', [name, temporary])
        else
          await ask(
            `INSERT INTO @.cap_overrides (name, temporary, limits, ends) VALUES (?, ?, ?, ?)
            ${dialect.replacing('name', ['limits', 'ends'])}`,
            [name, temporary, JSON.stringify(limits, bigintsAsText), until ?? null],
          )
      }),
    overrides: async (name) => {
      const text = `SELECT name, limits, ends FROM @.cap_overrides WHERE name = ? AND coalesce(ends > ${dialect.now}, true)
        ORDER BY temporary`
      return (await database.use((ask) => ask(text, [name]))).rows.map(overrideOf)
    },
  }
}

export function overrideOf({ name, limits, ends }: TableRow): CapOverride {
  return {
    name: name as string,
    limits: JSON.parse(limits as string, (_, value: unknown) =>
      typeof value === 'string' ? BigInt(value) : value,
    ) as CapOverride['limits'],
    ...(ends !== null && { until: Number(ends) }),
  }
}

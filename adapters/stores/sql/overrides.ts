/** Limits that replace those of caps. */
import type { CapOverride, LedgerCaps } from '../index.ts'
import { objectIn } from '../unreadable.ts'
import { bigintsAsText, type Dialect, type Sql, type TableRow } from './sql.ts'

/** The overrides that hold now, those without an end first. */
export function overridesText({ now }: Dialect, which: string): string {
  return `SELECT name, CAST(limits AS text) AS limits, until FROM @.cap_overrides
    WHERE ${which} AND coalesce(until > ${now}, true) ORDER BY name, temporary`
}

export function sqlOverrides({ dialect, all, run }: Sql): Pick<LedgerCaps, 'override' | 'overrides'> {
  const replacing = dialect.replacing('name, temporary', ['limits', 'until'])
  return {
    async override({ name, limits, until }) {
      const temporary = String(until !== undefined)
      const text = Object.values(limits).every((limit) => limit === undefined)
        ? `DELETE FROM @.cap_overrides WHERE name = :name AND temporary = ${temporary}`
        : `INSERT INTO @.cap_overrides (name, temporary, limits, until) VALUES (:name, ${temporary}, :limits, :until) ${replacing}`
      await run(text, { name, limits: JSON.stringify(limits, bigintsAsText), until })
    },
    overrides: async (name) => (await all(overridesText(dialect, 'name = :name'), { name })).map(overrideOf),
  }
}

export function overrideOf({ name, limits, until }: TableRow): CapOverride {
  return {
    name: name as string,
    // Without them, the limits of the cap itself hold.
    limits: Object.fromEntries(
      Object.entries(objectIn(limits) ?? {}).map(([name, value]) => [
        name,
        typeof value === 'string' ? BigInt(value) : value,
      ]),
    ),
    ...(until !== null && { until: Number(until) }),
  }
}

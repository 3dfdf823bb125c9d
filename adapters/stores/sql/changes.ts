/** What has changed lately. Watchers poll, because a connection that listens for changes would lose some when it breaks. */
import { ChangePoll, registryChange } from '../change-poll.ts'
import type { Sql } from './sql.ts'

/** A change becomes visible a little after its time, so each poll repeats the last seconds. */
const repeatedMs = 5_000

export function sqlChanges({ dialect: { now, types }, all }: Pick<Sql, 'dialect' | 'all'>): ChangePoll {
  const lately = `changed > coalesce(CAST(:since AS ${types.real}), ${now}) - ${repeatedMs}`
  return new ChangePoll(async (since, watched) => {
    const parts = [
      `SELECT ${now} AS now, NULL AS name, NULL AS changed`,
      watched.keys && `SELECT NULL, hash, changed FROM @.keys WHERE ${lately}`,
      watched.registry && `SELECT NULL, '${registryChange}', changed FROM @.registry WHERE ${lately}`,
    ]
    const rows = await all(parts.filter((part) => part !== false).join(' UNION ALL '), { since })
    const changes = rows.filter((row) => row['name'] !== null)
    return {
      now: String(rows.find((row) => row['name'] === null)?.['now']),
      changes: changes.map((row) => ({ hash: row['name'] as string, at: String(row['changed']) })),
    }
  })
}

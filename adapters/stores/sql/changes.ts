/** What has changed lately. Watchers poll, because a connection that listens for changes would lose some when it breaks. */
import { ChangePoll, registryChange } from '../change-poll.ts'
import type { Sql } from './sql.ts'

/** A change becomes visible a little after its time, so each poll repeats the last seconds. */
const repeatedMs = 5_000

export function sqlChanges({ dialect: { now, types }, all }: Pick<Sql, 'dialect' | 'all'>): ChangePoll {
  const lately = `changed > coalesce(CAST(:since AS ${types.real}), ${now}) - ${repeatedMs}`
  return new ChangePoll(async (since, watched) => {
    const parts = [
      `SELECT ${now} AS now, NULL AS name, NULL AS kind, NULL AS id, NULL AS version`,
      watched.keys && `SELECT NULL, hash, NULL, NULL, version FROM @.keys WHERE ${lately}`,
      watched.registry && `SELECT NULL, '${registryChange}', kind, id, version FROM @.registry WHERE ${lately}`,
    ]
    const rows = await all(parts.filter((part) => part !== false).join(' UNION ALL '), { since })
    const changes = rows.filter((row) => row['name'] !== null)
    return {
      now: String(rows.find((row) => row['name'] === null)?.['now']),
      // Not by their time: two changes can have the same, and a query can come between them.
      changes: changes.map(({ name, kind, id, version }) => ({
        hash: name as string,
        at: [kind, id, version].join(' '),
      })),
    }
  })
}

/** Every kind of shared storage. Each test file has its own data, which is deleted after its tests. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openBundle, type Kind, type Opened, type Place } from './bundles.ts'
import { hasMysql, hasPostgres, hasRedis, ownName } from './servers.ts'

/** Opens another handle on the same data, as another process would. */
export type Open = (options?: Pick<Place, 'responseAgeMs'>) => Promise<Opened['storage']>

/** For `describe.each`: the kind, whether it is available here, and how to open it. */
export function everyBundle(): [kind: Kind, available: boolean, open: Open, place: Place][] {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
  const opened: Opened[] = []
  afterAll(async () => {
    for (const each of opened) await each.clear()
    for (const each of opened) await each.close()
    rmSync(folder, { recursive: true })
  })
  const kinds: [Kind, boolean, string][] = [
    ['SQLite', true, join(folder, 'shared.db')],
    ['Postgres', hasPostgres, ownName()],
    ['MySQL', hasMysql, ownName()],
    ['Redis', hasRedis, ownName()],
  ]
  return kinds.map(([kind, available, name]) => {
    const open: Open = async (options) => {
      const each = await openBundle({ kind, name, ...options })
      opened.push(each)
      return each.storage
    }
    return [kind, available, open, { kind, name }]
  })
}

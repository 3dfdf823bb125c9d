/** Limits: claims are taken and returned in the batches of `calls`. */
import type { LimitStore } from '../index.ts'
import { batchedLimits } from '../batched-admission.ts'
import { inParts } from '../batches.ts'
import { whichPlaces } from './buckets.ts'
import type { Calls } from './calls.ts'
import type { Database } from './database.ts'
import { marks } from './locks.ts'
import { dialect } from './dialect.ts'

export function mysqlLimits(database: Database, calls: Calls): LimitStore {
  return batchedLimits(calls, async (holders, leaseMs) => {
    const places = holders.flatMap(({ id, places: names }) => names.map((bucket) => ({ bucket, holder: id })))
    await inParts(places, (part) =>
      database.transaction(async (ask) => {
        const names = [...new Set(part.map(({ bucket }) => bucket))]
        const until = `${dialect.now} + ?`
        // Locks the buckets only if a lease becomes shorter.
        const text = `FROM @.buckets WHERE name IN (${marks(names)}) AND soonest > ${until}`
        const { rows } = await ask(`SELECT name ${text}`, [...names, leaseMs])
        const sooner = rows.map(({ name }) => name)
        if (sooner.length > 0)
          await ask(`UPDATE @.buckets SET soonest = ${until} WHERE name IN (${marks(sooner)})`, [leaseMs, ...sooner])
        await ask(`UPDATE @.places SET ends = ${until} WHERE (${whichPlaces(part)}) AND ends > ${dialect.now}`, [
          leaseMs,
          ...part.flatMap(({ bucket, holder }) => [bucket, holder]),
        ])
      }),
    )
  })
}

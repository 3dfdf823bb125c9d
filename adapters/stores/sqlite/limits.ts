import {
  verdictAfter,
  type LimitClaim,
  type LimitReturn,
  type LimitStore,
  type LimitVerdict,
  type RateRule,
} from '../index.ts'
import type { Database, Part } from './database.ts'

/** One row per bucket and one per concurrency slot in use. */
export const limitsPart: Part = {
  name: 'limits',
  versions: [
    `
    CREATE TABLE modelhatch_buckets (
      name TEXT PRIMARY KEY,
      used REAL NOT NULL,
      at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE modelhatch_places (
      bucket TEXT NOT NULL,
      holder TEXT NOT NULL,
      ends REAL NOT NULL,
      PRIMARY KEY (bucket, holder)
    ) STRICT, WITHOUT ROWID;
    `,
  ],
}

export function sqliteLimits(database: Database): LimitStore {
  return {
    take: (claim) =>
      database.transaction(() => {
        const verdict = check(database, claim)
        if (verdict.admitted) draw(database, claim)
        return verdictAfter(claim, verdict)
      }),
    give: (returned) => database.transaction(() => giveBack(database, returned)),
    renew: (holders, leaseMs) =>
      database.transaction(() => {
        const now = database.now()
        for (const { id, places } of holders) {
          for (const bucket of places) {
            const sql = 'UPDATE modelhatch_places SET ends = ? WHERE bucket = ? AND holder = ? AND ends > ?'
            database.run(sql, now + leaseMs, bucket, id, now)
          }
        }
      }),
  }
}

/** The verdict on a claim, before anything is drawn. Must run in a transaction. */
export function check(database: Database, { id, rates, places }: LimitClaim): LimitVerdict {
  const now = database.now()
  const left = rates.map((rule) => rule.burst - used(database, rule, now))
  const free = places.map((rule) => {
    database.run('DELETE FROM modelhatch_places WHERE bucket = ? AND ends <= ?', rule.bucket, now)
    const sql = 'SELECT count(*) AS held FROM modelhatch_places WHERE bucket = ? AND holder <> ?'
    return rule.places - Number(database.get(sql, rule.bucket, id)?.['held'])
  })
  const admitted = rates.every((rule, index) => (left[index] as number) >= rule.cost) && free.every((each) => each >= 1)
  return { admitted, left, free }
}

/** Draws the units and slots of an admitted claim. Must run in the transaction of its `check`. */
export function draw(database: Database, { id, rates, places, leaseMs }: LimitClaim): void {
  const now = database.now()
  for (const rule of rates) spend(database, rule, now)
  for (const { bucket } of places) {
    database.run('INSERT OR REPLACE INTO modelhatch_places VALUES (?, ?, ?)', bucket, id, now + leaseMs)
  }
}

/** Frees slots and applies corrections. Must run in a transaction. */
export function giveBack(database: Database, { id, places, corrections }: LimitReturn): void {
  for (const bucket of places) {
    database.run('DELETE FROM modelhatch_places WHERE bucket = ? AND holder = ?', bucket, id)
  }
  if (corrections.length === 0) return
  const now = database.now()
  for (const rule of corrections) spend(database, rule, now)
}

function used(database: Database, { bucket, limit, periodMs }: RateRule, now: number): number {
  const row = database.get('SELECT used, at FROM modelhatch_buckets WHERE name = ?', bucket)
  if (row === undefined) return 0
  return Math.max(0, Number(row['used']) - (Math.max(0, now - Number(row['at'])) * limit) / periodMs)
}

function spend(database: Database, rule: RateRule, now: number): void {
  const level = Math.max(0, used(database, rule, now) + rule.cost)
  database.run('INSERT OR REPLACE INTO modelhatch_buckets VALUES (?, ?, ?)', rule.bucket, level, now)
}

import {
  verdictAfter,
  type LimitClaim,
  type LimitReturn,
  type LimitStore,
  type LimitVerdict,
  type RateRule,
} from '../index.ts'
import type { Database } from './database.ts'

/**
 * One row per bucket and one per concurrency slot in use. `modelhatch_slots` counts the rows of `modelhatch_places` per bucket, so
 * that no call reads all of them. No lease of a bucket ends before `soonest`. Triggers keep the counts;
 * a row that is replaced fires none unless it is deleted before.
 */
export const limitsSchema: string = `
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
    CREATE TABLE modelhatch_slots (
      bucket TEXT PRIMARY KEY,
      held INTEGER NOT NULL,
      soonest REAL
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER modelhatch_places_replaced BEFORE INSERT ON modelhatch_places BEGIN
      DELETE FROM modelhatch_places WHERE bucket = new.bucket AND holder = new.holder;
    END;
    CREATE TRIGGER modelhatch_places_taken AFTER INSERT ON modelhatch_places BEGIN
      INSERT INTO modelhatch_slots VALUES (new.bucket, 1, new.ends)
      ON CONFLICT DO UPDATE SET held = held + 1, soonest = min(coalesce(soonest, new.ends), new.ends);
    END;
    CREATE TRIGGER modelhatch_places_returned AFTER DELETE ON modelhatch_places BEGIN
      UPDATE modelhatch_slots SET held = held - 1 WHERE bucket = old.bucket;
    END;
`

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
        for (const bucket of new Set(holders.flatMap(({ places }) => places))) {
          const sql = 'UPDATE modelhatch_slots SET soonest = ? WHERE bucket = ? AND soonest > ?'
          database.run(sql, now + leaseMs, bucket, now + leaseMs)
        }
      }),
  }
}

/** The verdict on a claim, before anything is drawn. Must run in a transaction. */
export function check(database: Database, { id, rates, places }: LimitClaim): LimitVerdict {
  const now = database.now()
  const left = rates.map((rule) => rule.burst - used(database, rule, now))
  const free = places.map((rule) => rule.places - heldByOthers(database, rule.bucket, id, now))
  const admitted = rates.every((rule, index) => (left[index] as number) >= rule.cost) && free.every((each) => each >= 1)
  return { admitted, left, free }
}

/** The number of slots held by other claims. Reads all of them only if a lease may have expired. */
function heldByOthers(database: Database, bucket: string, id: string, now: number): number {
  const countSql = 'SELECT held, soonest FROM modelhatch_slots WHERE bucket = ?'
  let row = database.get(countSql, bucket)
  if (row === undefined) return 0
  if (row['soonest'] !== null && Number(row['soonest']) <= now) {
    database.run('DELETE FROM modelhatch_places WHERE bucket = ? AND ends <= ?', bucket, now)
    const soonest = '(SELECT min(ends) FROM modelhatch_places WHERE bucket = ?)'
    database.run(`UPDATE modelhatch_slots SET soonest = ${soonest} WHERE bucket = ?`, bucket, bucket)
    row = database.get(countSql, bucket)
  }
  const mine = database.get('SELECT 1 FROM modelhatch_places WHERE bucket = ? AND holder = ?', bucket, id)
  return Number(row?.['held']) - (mine === undefined ? 0 : 1)
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

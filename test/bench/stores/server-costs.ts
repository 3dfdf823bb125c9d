/** What a Postgres on this machine has spent so far: CPU time, transactions, bytes of its write-ahead log. */
import { readdir, readFile } from 'node:fs/promises'
import type { Pool } from 'pg'

export interface ServerCosts {
  /** Milliseconds of all its processes. Zero if it is on another machine. */
  readonly cpu: number
  readonly transactions: number
  readonly wal: number
  /** Connections opened. */
  readonly sessions: number
}

/** `costs(pool)`: those so far. Two results are subtracted from one another. */
export async function serverCosts(pool: Pool): Promise<ServerCosts> {
  const { rows } = await pool.query<{ transactions: string; wal: string; sessions: string; folder: string }>(
    `SELECT xact_commit + xact_rollback AS transactions, sessions, pg_current_wal_lsn() - '0/0'::pg_lsn AS wal,
      current_setting('data_directory') AS folder FROM pg_stat_database WHERE datname = current_database()`,
  )
  const { transactions, wal, sessions, folder } = rows[0] as (typeof rows)[0]
  const postmaster = await readFile(`${folder}/postmaster.pid`, 'utf8').then(Number.parseInt, () => undefined)
  return {
    cpu: postmaster === undefined ? 0 : await cpuOf(postmaster),
    transactions: Number(transactions),
    wal: Number(wal),
    sessions: Number(sessions),
  }
}

/** A process, its children, and those that have ended, in ticks of 10 ms. */
async function cpuOf(parent: number): Promise<number> {
  let ticks = 0
  for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [ppid = 0, user = 0, system = 0, gone = 0, goneSystem = 0] = [fields[1], ...fields.slice(11, 15)]
    if (Number(id) === parent) ticks += user + system + gone + goneSystem
    else if (ppid === parent) ticks += user + system
  }
  return ticks * 10
}

/** What a server on this machine has spent so far. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { createClient } from '@redis/client'
import type { Pool as MysqlPool, RowDataPacket } from 'mysql2/promise'
import type { Pool } from 'pg'

export interface ServerCosts {
  /** Milliseconds of CPU time of all its processes. Zero if it is on another machine. */
  readonly cpu: number
  /** Scripts, in Redis. */
  readonly transactions: number
  /** Statements, if the server counts them. */
  readonly statements?: number
  /** Bytes of its write-ahead log. */
  readonly wal: number
  /** Connections opened. */
  readonly sessions: number
}

/** Two results of `costs` are subtracted from one another. */
export interface Watch {
  costs(): Promise<ServerCosts>
  /** The number of connections now. */
  connections(): Promise<number>
  close(): Promise<void>
}

export function watchPostgres(pool: Pool): Watch {
  return {
    async costs() {
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
    },
    async connections() {
      const sql = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()`
      return (await pool.query<{ count: number }>(sql)).rows[0]?.count ?? 0
    },
    close: () => pool.end(),
  }
}

export function watchMysql(pool: MysqlPool): Watch {
  const statusOf = async (...names: readonly string[]) => {
    const [rows] = await pool.query<(RowDataPacket & { Variable_name: string; Value: string })[]>(
      'SHOW GLOBAL STATUS WHERE Variable_name IN (?)',
      [names],
    )
    return names.map((name) => Number(rows.find((row) => row.Variable_name === name)?.Value ?? 0))
  }
  return {
    async costs() {
      const [[row]] = await pool.query<RowDataPacket[]>('SELECT @@pid_file AS file, @@datadir AS folder')
      const file = await readFile(path.resolve(row?.['folder'] as string, row?.['file'] as string), 'utf8').catch(
        () => '',
      )
      const names = ['Handler_commit', 'Questions', 'Innodb_os_log_written', 'Connections']
      const [transactions = 0, statements = 0, wal = 0, sessions = 0] = await statusOf(...names)
      return { cpu: file === '' ? 0 : await cpuOf(Number.parseInt(file)), transactions, statements, wal, sessions }
    },
    connections: async () => (await statusOf('Threads_connected'))[0] ?? 0,
    close: () => pool.end(),
  }
}

/** One server, or the masters of a cluster. */
export async function watchRedis(ports: readonly number[]): Promise<Watch> {
  const nodes = await Promise.all(ports.map((port) => createClient({ url: `redis://127.0.0.1:${port}` }).connect()))
  const sumOf = async (numbers: RegExp) => {
    const texts = await Promise.all(nodes.map((node) => node.sendCommand<string>(['INFO', 'all'])))
    return texts.flatMap((text) => [...text.matchAll(numbers)]).reduce((sum, [, n]) => sum + Number(n), 0)
  }
  return {
    costs: async () => ({
      cpu: (await sumOf(/used_cpu_(?:user|sys):([\d.]+)/g)) * 1_000,
      transactions: await sumOf(/cmdstat_eval(?:sha)?:calls=(\d+)/g),
      wal: 0,
      sessions: await sumOf(/total_connections_received:(\d+)/g),
    }),
    connections: () => sumOf(/connected_clients:(\d+)/g),
    async close() {
      for (const node of nodes) node.destroy()
    },
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

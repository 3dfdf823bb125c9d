/** With 100,000 receipts (20,000 outside of CI), what each page asks for first takes less than 300 ms of the server. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from 'modelhatch/postgres'
import { sqlite } from 'modelhatch/sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { calmly } from '../../cpu-time.ts'
import { thorough } from '../../long.ts'
import { hasPostgres, ownName, postgresPool } from '../../servers.ts'
import { openStage, serveConsole, type Served, type Stage } from './stage.ts'
import { statementMs } from '../../patience.ts'

const limitMs = 300
const rows = thorough ? 100_000 : 20_000
const day = 86_400_000

/** The requests of each page, as the page sends them for its longest range. */
function questions(now: number, request: string): Record<string, string[]> {
  const range = (days: number) => `from=${now - days * day}&to=${now + day}`
  return {
    overview: [
      `usage/series?${range(30)}&period=day&by=model&top=5&measure=cost`,
      `usage/latency?${range(30)}&periods=15`,
      `usage?by=model&${range(30)}`,
      `usage?by=account&${range(30)}`,
    ],
    usage: [`usage?by=model&${range(30)}`, `usage?by=key&${range(30)}`],
    requests: [`requests?${range(7)}&limit=50`, `requests?${range(30)}&limit=50&account=acme&model=gpt-mini`],
    request: [`requests/${request}`],
    keys: ['keys?state=active&limit=50'],
    accounts: ['accounts?limit=50'],
    account: ['accounts/acme', 'accounts/acme/caps', 'accounts/acme/entries?limit=50'],
    models: ['models', 'prices', 'health'],
    videos: ['videos?limit=50'],
  }
}

const ends: (() => unknown)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const folder = mkdtempSync(join(tmpdir(), 'console-'))
ends.push(() => rmSync(folder, { recursive: true, force: true }))

describe.each([
  ['SQLite', true],
  ['Postgres', hasPostgres],
])(`with ${rows.toLocaleString('en')} receipts in %s`, (name, isThere) => {
  test.skipIf(!isThere)('the requests of each page are quick', async () => {
    const { stage, served } = await opened(name)
    const slow: string[] = []
    for (const [page, paths] of Object.entries(questions(Date.now(), stage.requests.acme[1] ?? ''))) {
      for (const path of paths) {
        const ms = calmly(await quickest(`${served.url}api/${path}`), limitMs)
        if (ms >= limitMs) slow.push(`${page}: ${path} took ${Math.round(ms)} ms`)
      }
    }
    expect(slow).toEqual([])
  })
})

async function opened(name: string): Promise<{ stage: Stage; served: Served }> {
  const pool = name === 'Postgres' ? postgresPool() : undefined
  const schema = ownName()
  const storage = pool === undefined ? sqlite(join(folder, 'gateway.db')) : postgres(pool, { schema, statementMs })
  if (pool !== undefined) {
    ends.push(() => pool.end())
    ends.push(() => pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`))
  }
  const stage = await openStage(storage, rows / 2)
  ends.push(() => stage.gateway.close({ graceMs: 0 }))
  const served = await serveConsole('Express', stage.gateway)
  ends.push(served.close)
  return { stage, served }
}

/** Of a few, the quickest: the first one compiles, and others share the machine with other tests. */
async function quickest(url: string): Promise<number> {
  let least = Infinity
  for (let tries = 0; tries < 8 && least >= limitMs / 3; tries++) {
    const began = performance.now()
    const response = await fetch(url, { headers: { cookie: 'who=admin' } })
    await response.arrayBuffer()
    expect(response.status, url).toBe(200)
    least = Math.min(least, performance.now() - began)
  }
  return least
}

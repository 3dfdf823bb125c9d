/** The audit log: a list of entries, the first of which has the number 1. */
import { auditMatches, erasedEntry, pageOf, readNumberCursor, type AuditEntry, type AuditStore } from '../index.ts'
import type { KeyBases } from './key-bases.ts'
import { lua, type Scripts } from './scripts.ts'

const append = lua(`
local log = key('audit log')
if redis.call('LLEN', log) + 1 ~= tonumber(ARGV[2]) then return 0 end
redis.call('RPUSH', log, ARGV[3])
return 1
`)

const range = lua(`return redis.call('LRANGE', key('audit log'), ARGV[2], ARGV[3])`)

/** Replaces an entry, unless another process has replaced it since it was read. */
const replace = lua(`
local log, place = key('audit log'), tonumber(ARGV[2])
if redis.call('LINDEX', log, place) == ARGV[3] then redis.call('LSET', log, place, ARGV[4]) end
`)

/** Number of entries that are read at once. */
const batch = 500

export function redisAuditLog(scripts: Scripts, { shared }: KeyBases): AuditStore {
  const read = async (first: number, last: number) =>
    (await scripts.run<readonly string[]>(range, shared, first, last)).map((text) => JSON.parse(text) as AuditEntry)
  const last = async () => (await read(-1, -1))[0]
  return {
    async append(entry) {
      return (await scripts.run<number>(append, shared, entry.number, JSON.stringify(entry))) === 1
    },
    last,
    async list({ limit = 100, after, ...filter }) {
      let end = after === undefined ? ((await last())?.number ?? 0) : Number(readNumberCursor(after)) - 1
      const found: AuditEntry[] = []
      while (end > 0 && found.length <= limit) {
        const entries = await read(Math.max(0, end - batch), end - 1)
        found.push(...entries.filter((entry) => auditMatches(entry, filter)).toReversed())
        end -= batch
      }
      return pageOf(found, limit, ({ number }) => String(number))
    },
    read: (after, limit) => read(after, after + limit - 1),
    async erase(account, as) {
      for (let first = 0; ; first += batch) {
        const texts = await scripts.run<readonly string[]>(range, shared, first, first + batch - 1)
        for (const [place, text] of texts.entries()) {
          const entry = JSON.parse(text) as AuditEntry
          if (entry.account !== account && entry.actor !== account) continue
          await scripts.run(replace, shared, first + place, text, JSON.stringify(erasedEntry(entry, account, as)))
        }
        if (texts.length < batch) return false
      }
    },
  }
}

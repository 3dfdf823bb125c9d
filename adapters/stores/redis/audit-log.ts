/** The audit log: a list of entries, the first of which has the number 1. */
import { auditMatches, erasedEntry, pageOf, readNumberCursor, type AuditEntry, type AuditStore } from '../index.ts'
import { objectIn } from '../unreadable.ts'
import type { KeyBases } from './key-bases.ts'
import { lua, type Scripts } from './scripts.ts'

const append = lua(`
local log = key('audit log')
if redis.call('LLEN', log) + 1 ~= tonumber(ARGV[2]) then return 0 end
redis.call('RPUSH', log, ARGV[3])
return 1
`)

/** And how many entries there are. */
const range = lua(`
local log = key('audit log')
return { redis.call('LLEN', log), redis.call('LRANGE', log, ARGV[2], ARGV[3]) }
`)

/** Replaces an entry, unless another process has replaced it since it was read. */
const replace = lua(`
local log, place = key('audit log'), tonumber(ARGV[2])
if redis.call('LINDEX', log, place) == ARGV[3] then redis.call('LSET', log, place, ARGV[4]) end
`)

/** Number of entries that are read at once. */
const batch = 500

export function redisAuditLog(scripts: Scripts, { shared }: KeyBases): AuditStore {
  const read = async (first: number, last: number) => {
    const [length, texts] = await scripts.run<Range>(range, shared, first, last)
    const before = first < 0 ? length + first : first
    return texts.map((text, at) => entryOf(text, before + at + 1))
  }
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
        const [, texts] = await scripts.run<Range>(range, shared, first, first + batch - 1)
        for (const [place, text] of texts.entries()) {
          const entry = entryOf(text, first + place + 1)
          if (entry.account !== account && entry.actor !== account) continue
          await scripts.run(replace, shared, first + place, text, JSON.stringify(erasedEntry(entry, account, as)))
        }
        if (texts.length < batch) return false
      }
    },
  }
}

type Range = readonly [length: number, texts: readonly string[]]

/** Of one that cannot be read, the number. The verification of the log reports it. */
function entryOf(content: string, number: number): AuditEntry {
  const found = objectIn(content) as AuditEntry | undefined
  return found ?? { number, at: 0, action: '(cannot be read)', content, digest: '', hash: '' }
}

/** Caps: their use, the overrides of their limits, and the notices of settlements. */
import { capMeasures, cursorOf, pageOf, readCursor, type CapOverride, type LedgerCaps, type Notice } from '../index.ts'
import { ledgerText } from './ledger-text.ts'
import { capStatesOf, claimsText } from './cap-arguments.ts'
import { capsText } from './caps-text.ts'
import type { KeyBases } from './key-bases.ts'
import { lua, type Scripts } from './scripts.ts'

const read = lua(
  'local accounts = {}',
  ledgerText,
  capsText,
  `
local books = cap_books()
local claim = books.claimed(ARGV[4])
local more = books.drop_expired(1000)
local states = books.states_of(claim.claims, claim.periods)
write_caps()
return { books.text_of(states), more and '1' or '' }
`,
)

/** Takes a refund of a settlement from the use of its caps, once for each reference. */
export const refundCaps: string = lua(
  'local accounts = {}',
  ledgerText,
  capsText,
  `
cap_books().refund(ARGV[4], amount(ARGV[5]), ARGV[6])
write_caps()
`,
)

/** Removes the fields of an override, and sets those that are given. */
const override = lua(`
local name = key('override', ARGV[2])
redis.call('HDEL', name, unpack(cjson.decode(ARGV[3])))
if #ARGV > 3 then redis.call('HSET', name, unpack(ARGV, 4)) end
`)

const overrides = lua(`
local found = redis.call('HMGET', key('override', ARGV[2]), 'money', 'tokens', 'calls', 'until_money', 'until_tokens',
  'until_calls', 'until')
if found[7] and tonumber(found[7]) <= now then found[7] = false end
return found
`)

/** A notice, or what is known of one that cannot be read. */
const noticeText = `
local function notice_in(text)
  local readable, notice = pcall(cjson.decode, text)
  if readable and type(notice) == 'table' and notice.attempts then return notice end
  return { notice = text, settlement = '', account = '', value = '0', at = '0', attempts = 0 }
end
`

/** Takes notices that are due. One whose text has expired is removed. */
const claimNotices = lua(
  noticeText,
  `
local notices, taken = key('notices'), {}
local due = real(now + tonumber(ARGV[3]))
for _, id in ipairs(redis.call('ZRANGEBYSCORE', notices, '-inf', real(now), 'LIMIT', 0, ARGV[2])) do
  local name = key('notice', id)
  local text = redis.call('GET', name)
  if text then
    local notice = notice_in(text)
    notice.attempts = notice.attempts + 1
    redis.call('SET', name, cjson.encode(notice), 'KEEPTTL')
    redis.call('ZADD', notices, due, id)
    taken[#taken + 1] = { id, notice.notice, notice.settlement, notice.account, notice.value, notice.at, whole(notice.attempts) }
  else
    redis.call('ZREM', notices, id)
  end
end
return taken
`,
)

const endNotice = lua(`
if ARGV[3] == '' then
  redis.call('ZREM', key('notices'), ARGV[2])
else
  redis.call('ZADD', key('notices'), 'XX', real(now + tonumber(ARGV[3])), ARGV[2])
end
`)

/** Notices of a list, newest first, from the place after a notice, or after its time if it has expired. */
const listNotices = lua(
  noticeText,
  `
local list, first, found = key('noticed', ARGV[2]), 0, {}
if ARGV[4] then
  local rank = redis.call('ZREVRANK', list, ARGV[5])
  first = rank and rank + 1 or redis.call('ZCOUNT', list, '(' .. ARGV[4], '+inf')
end
local ids = redis.call('ZREVRANGE', list, first, first + tonumber(ARGV[3]) - 1, 'WITHSCORES')
for i = 1, #ids, 2 do
  local text = redis.call('GET', key('notice', ids[i]))
  local notice = notice_in(text or '')
  found[#found + 1] = { ids[i], notice.notice, notice.settlement, notice.account, notice.value, notice.at,
    whole(notice.attempts), ids[i + 1] }
end
return found
`,
)

/** Deletes notices of an account, and returns whether there are more. */
const deleteNotices = lua(`
local list = key('noticed', ARGV[2])
local ids = redis.call('ZRANGE', list, 0, 499)
for _, id in ipairs(ids) do
  redis.call('DEL', key('notice', id))
  redis.call('ZREM', key('notices'), id)
  redis.call('ZREM', key('noticed', ''), id)
  redis.call('ZREM', list, id)
end
return redis.call('EXISTS', list)
`)

export function redisCaps(scripts: Scripts, { shared }: KeyBases): LedgerCaps {
  return {
    async read(claims) {
      for (;;) {
        const [states, more] = await scripts.run<[string, string]>(read, shared, '', shared, claimsText(claims))
        if (more === '') return capStatesOf(claims, states)
      }
    },
    async override({ name, limits, until }) {
      const prefix = until === undefined ? '' : 'until_'
      const fields = capMeasures.flatMap((measure) => {
        const limit = limits[measure]
        return limit === undefined ? [] : [`${prefix}${measure}`, String(limit ?? 'none')]
      })
      if (until !== undefined && fields.length > 0) fields.push('until', String(until))
      const all = [...capMeasures.map((measure) => prefix + measure), ...(until === undefined ? [] : ['until'])]
      await scripts.run(override, shared, name, JSON.stringify(all), ...fields)
    },
    async overrides(name) {
      const found = await scripts.run<(string | null)[]>(overrides, shared, name)
      const [always, temporary] = [limitsOf(found.slice(0, 3)), limitsOf(found.slice(3, 6))]
      const until = found[6]
      return [
        ...(Object.keys(always).length === 0 ? [] : [{ name, limits: always }]),
        ...(typeof until === 'string' ? [{ name, limits: temporary, until: Number(until) }] : []),
      ]
    },
    async claimNotices(limit, leaseMs) {
      return (await scripts.run<NoticeRow[]>(claimNotices, shared, limit, leaseMs)).map(noticeOf)
    },
    async endNotice(id, retryMs) {
      await scripts.run(endNotice, shared, id, retryMs ?? '')
    },
    async listNotices({ account = '', limit = 100, after }) {
      const place = after === undefined ? [] : readCursor(after)
      const rows = await scripts.run<ListedRow[]>(listNotices, shared, account, limit + 1, ...place)
      const { items, ...rest } = pageOf(rows, limit, (row) => cursorOf(Number(row[7]), row[0]))
      // A notice without text has expired.
      return { ...rest, items: items.filter(([, notice]) => notice !== '').map(noticeOf) }
    },
    async deleteNotices(account) {
      return (await scripts.run<number>(deleteNotices, shared, account)) === 1
    },
  }
}

function limitsOf(texts: readonly (string | null)[]): CapOverride['limits'] {
  const limits: Partial<Record<(typeof capMeasures)[number], bigint | null>> = {}
  capMeasures.forEach((measure, index) => {
    const text = texts[index]
    if (typeof text === 'string') limits[measure] = text === 'none' ? null : BigInt(text)
  })
  return limits
}

type NoticeRow = readonly [string, string, string, string, string, string, string]
type ListedRow = readonly [...NoticeRow, score: string]

function noticeOf([id, notice, settlement, account, value, at, attempts]: NoticeRow | ListedRow): Notice {
  return { id, notice, settlement, account, value: BigInt(value), at: Number(at), attempts: Number(attempts) }
}

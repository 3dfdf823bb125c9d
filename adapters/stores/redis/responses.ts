/**
 * Responses: a hash for each, and sorted sets of responses, scored by expiry: one for each account, and one for each item
 * with the responses that contain it.
 */
import type { ResponseStore } from '../index.ts'
import type { KeyBases } from './key-bases.ts'
import { expiringText, lua, type Scripts } from './scripts.ts'

/** The length in `owner` keeps account and id apart in a key. `remove` returns whether it deleted a response, as 1 or 0. */
const responseText = `
local owner = #ARGV[2] .. ':' .. ARGV[2] .. ':'
local function response(id) return key('response', owner .. id) end
local function holders(item) return key('responses with', owner .. item) end
local own = key('responses of', ARGV[2])
local function remove(id)
  redis.call('ZREM', own, id)
  local items = redis.call('HGET', response(id), 'items')
  if not items then return 0 end
  for _, item in ipairs(cjson.decode(items)) do redis.call('ZREM', holders(item), id) end
  return redis.call('DEL', response(id))
end
`

const put = lua(
  responseText,
  expiringText,
  `
local id, items, body, age = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
remove(id)
redis.call('HSET', response(id), 'items', items, 'body', body)
redis.call('PEXPIRE', response(id), whole(age))
note(own, id, age)
for _, item in ipairs(cjson.decode(items)) do note(holders(item), id, age) end
`,
)

const get = lua(
  responseText,
  `
local found = redis.call('HMGET', response(ARGV[3]), 'items', 'body')
return found[1] and { ARGV[3], found[1], found[2] }
`,
)

const holding = lua(
  responseText,
  `
for _, id in ipairs(redis.call('ZREVRANGEBYSCORE', holders(ARGV[3]), '+inf', real(now), 'LIMIT', '0', '9')) do
  local found = redis.call('HMGET', response(id), 'items', 'body')
  if found[1] then return { id, found[1], found[2] } end
end
`,
)

const remove = lua(responseText, `return remove(ARGV[3])`)

/** Few at a time, because each may have a thousand items. */
const removeAll = lua(
  responseText,
  `
for _, id in ipairs(redis.call('ZRANGE', own, 0, 19)) do remove(id) end
return redis.call('EXISTS', own)
`,
)

/** Keeps each response for `ageMs` milliseconds. */
export function redisResponses(scripts: Scripts, keyBases: KeyBases, ageMs: number): ResponseStore {
  const find = async (script: string, account: string, id: string) => {
    const row = await scripts.run<readonly [string, string, string] | null>(
      script,
      keyBases.baseOf(account),
      account,
      id,
    )
    return row === null ? undefined : { account, id: row[0], items: JSON.parse(row[1]) as string[], body: row[2] }
  }
  return {
    async put({ account, id, items, body }) {
      await scripts.run(put, keyBases.baseOf(account), account, id, JSON.stringify(items), body, ageMs)
    },
    get: (account, id) => find(get, account, id),
    holding: (account, itemId) => find(holding, account, itemId),
    async delete(account, id) {
      return (await scripts.run<number>(remove, keyBases.baseOf(account), account, id)) === 1
    },
    async deleteAll(account) {
      return (await scripts.run<number>(removeAll, keyBases.baseOf(account), account)) === 1
    },
  }
}

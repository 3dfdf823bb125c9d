/**
 * Responses and conversations: a hash for each, and sorted sets of responses, scored by expiry: one for each account, and one for each item
 * with the responses that contain it.
 */
import type { ResponseStore } from '../index.ts'
import { listIn } from '../unreadable.ts'
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
  local readable, list = pcall(cjson.decode, items)
  for _, item in ipairs(readable and type(list) == 'table' and list or {}) do redis.call('ZREM', holders(item), id) end
  return redis.call('DEL', response(id))
end
`

const put = lua(
  responseText,
  expiringText,
  `
local id, items, body, age, version = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
remove(id)
redis.call('HSET', response(id), 'items', items, 'body', body)
if version ~= '' then redis.call('HSET', response(id), 'version', version) end
redis.call('PEXPIRE', response(id), whole(age))
note(own, id, age)
for _, item in ipairs(cjson.decode(items)) do note(holders(item), id, age) end
`,
)

const get = lua(
  responseText,
  `
local found = redis.call('HMGET', response(ARGV[3]), 'items', 'body', 'version')
return found[1] and { ARGV[3], found[1], found[2], found[3] }
`,
)

const replace = lua(
  responseText,
  expiringText,
  `
local id, body, age, version = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local before = redis.call('HMGET', response(id), 'items', 'version')
if tonumber(before[1] and (before[2] or '') or '0') ~= tonumber(version) - 1 then return 0 end
redis.call('HSET', response(id), 'items', before[1] or ARGV[7], 'body', body, 'version', version)
redis.call('PEXPIRE', response(id), whole(age))
note(own, id, age)
return 1
`,
)

const holding = lua(
  responseText,
  `
for _, id in ipairs(redis.call('ZREVRANGEBYSCORE', holders(ARGV[3]), '+inf', real(now), 'LIMIT', '0', '9')) do
  local found = redis.call('HMGET', response(id), 'items', 'body', 'version')
  if found[1] then return { id, found[1], found[2], found[3] } end
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
    const row = await scripts.run<readonly [string, string, string, (string | null)?] | null>(
      script,
      keyBases.baseOf(account),
      account,
      id,
    )
    if (row === null) return undefined
    const [own, items, body, version] = row
    return {
      account,
      id: own,
      items: (listIn(items) ?? []) as string[],
      body,
      ...(version && { version: Number(version) }),
    }
  }
  return {
    async put({ account, id, items, body, version = '' }) {
      await scripts.run(put, keyBases.baseOf(account), account, id, JSON.stringify(items), body, ageMs, version)
    },
    async replace({ account, id, items, body, version = 0 }) {
      const values = [id, body, ageMs, version, JSON.stringify(items)]
      return (await scripts.run<number>(replace, keyBases.baseOf(account), account, ...values)) === 1
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

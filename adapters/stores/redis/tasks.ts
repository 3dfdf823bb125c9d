/**
 * Video tasks in Redis: a hash for each, and sorted sets of those that are due, those that have ended, those of each account,
 * and all of them. All keys share one hash tag, because a script uses several of them; in a cluster, all are on one node.
 */
import type { Json, TaskRecord, TaskStore } from '../index.ts'
import type { Send } from './clients.ts'
import { script } from './scripts.ts'

/** `put` writes a task and its entries in the sorted sets; `fields` reads a task. */
const put = `
local function put(due, ended, key, list, all, id, version, created, expires, dueAt, leased, data)
  redis.call('HSET', key, 'version', version, 'created', created, 'expires', expires, 'due', dueAt, 'leased', leased,
    'data', data, 'list', list, 'id', id)
  redis.call('ZADD', list, created, id)
  redis.call('ZADD', all, created, key)
  if dueAt == '' then
    redis.call('ZREM', due, key)
    redis.call('ZADD', ended, expires, key)
  else
    redis.call('ZREM', ended, key)
    redis.call('ZADD', due, math.max(tonumber(dueAt), tonumber(leased)), key)
  end
end
local function fields(key)
  return redis.call('HMGET', key, 'version', 'created', 'expires', 'due', 'leased', 'data')
end
`

const insertLua = `${put}
local old = fields(KEYS[3])
if old[1] and not (old[4] == '' and tonumber(old[3]) <= tonumber(ARGV[3])) then return old end
put(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
return false
`

const replaceLua = `${put}
if redis.call('HGET', KEYS[3], 'version') ~= ARGV[8] then return 0 end
put(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
return 1
`

const claimLua = `
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, 200)) do
  local list, id = unpack(redis.call('HMGET', key, 'list', 'id'))
  if list then redis.call('ZREM', list, id) end
  redis.call('DEL', key)
  redis.call('ZREM', KEYS[2], key)
  redis.call('ZREM', KEYS[3], key)
end
local claimed = {}
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])) do
  redis.call('HINCRBY', key, 'version', 1)
  redis.call('HSET', key, 'leased', ARGV[2])
  redis.call('ZADD', KEYS[1], ARGV[2], key)
  local task = redis.call('HMGET', key, 'version', 'created', 'expires', 'due', 'leased', 'data')
  task[7] = key
  claimed[#claimed + 1] = task
end
return claimed
`

/** Reads the ids from the one after `ARGV[2]` on, a few at a time. */
const listLua = `
local descends, listed, from = ARGV[1] ~= 'asc', {}, 0
if ARGV[2] ~= '' then
  local rank = redis.call(descends and 'ZREVRANK' or 'ZRANK', KEYS[1], ARGV[2])
  if not rank then return listed end
  from = rank + 1
end
local limit = tonumber(ARGV[4])
while true do
  local ids = redis.call(descends and 'ZREVRANGE' or 'ZRANGE', KEYS[1], from, from + limit - 1)
  for _, id in ipairs(ids) do
    local task = redis.call('HMGET', ARGV[5] .. id, 'version', 'created', 'expires', 'due', 'leased', 'data')
    if task[1] and tonumber(task[3]) > tonumber(ARGV[3]) then
      task[7] = id
      listed[#listed + 1] = task
      if #listed >= limit then return listed end
    end
  end
  if #ids < limit then return listed end
  from = from + limit
end
`

/** Reads the keys from the one after `ARGV[1]` on, or from those before the time `ARGV[2]` on. */
const searchLua = `
local found, from, limit = {}, 0, tonumber(ARGV[4])
if ARGV[1] ~= '' then
  local rank = redis.call('ZREVRANK', KEYS[1], ARGV[1])
  if rank then from = rank + 1 else from = redis.call('ZCOUNT', KEYS[1], ARGV[2], '+inf') end
end
while true do
  local keys = redis.call('ZREVRANGE', KEYS[1], from, from + limit - 1)
  for _, key in ipairs(keys) do
    local task = redis.call('HMGET', key, 'version', 'created', 'expires', 'due', 'leased', 'data')
    if task[1] and tonumber(task[3]) > tonumber(ARGV[3]) then
      task[7] = key
      found[#found + 1] = task
      if #found >= limit then return found end
    end
  end
  if #keys < limit then return found end
  from = from + limit
end
`
const dueLua = `return math.min(redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[1]), tonumber(ARGV[2]))`

const findLua = `return redis.call('HMGET', KEYS[1], 'version', 'created', 'expires', 'due', 'leased', 'data')`

type TaskFields = readonly (string | null)[]

/** `prefix` must contain a hash tag, such as `{modelhatch}:`. */
export function taskStore(send: Send, prefix: string): TaskStore {
  const find = script(send, findLua)
  const insert = script(send, insertLua)
  const replace = script(send, replaceLua)
  const claim = script(send, claimLua)
  const list = script(send, listLua)
  const search = script(send, searchLua)
  const due = script(send, dueLua)
  const accountKey = (account: string) => `${prefix}task:${nameOf(account)}:`
  const keysOf = ({ account, id }: Pick<TaskRecord, 'account' | 'id'>) => [
    `${prefix}due`,
    `${prefix}over`,
    accountKey(account) + id,
    `${prefix}list:${nameOf(account)}`,
    `${prefix}all`,
  ]
  const keyedOf = (fields: TaskFields) => {
    const [account = '', id = ''] = String(fields[6]).slice(`${prefix}task:`.length).split(':')
    return taskOf(Buffer.from(account, 'base64url').toString(), id, fields)
  }

  return {
    async insert(task) {
      const present = (await insert(keysOf(task), ...valuesOf(task))) as TaskFields | null
      return present === null ? task : taskOf(task.account, task.id, present)
    },
    async find(account, id, now) {
      const fields = (await find([accountKey(account) + id])) as TaskFields
      if (fields[0] === null || Number(fields[2]) <= now) return undefined
      return taskOf(account, id, fields)
    },
    async replace(task) {
      return (await replace(keysOf(task), ...valuesOf(task), task.version - 1)) === 1
    },
    async claim({ now, leaseMs, limit }) {
      const keys = [`${prefix}due`, `${prefix}over`, `${prefix}all`]
      const claimed = (await claim(keys, now, now + leaseMs, limit)) as TaskFields[]
      return claimed.map(keyedOf).sort((left, right) => Number(left.dueAt) - Number(right.dueAt))
    },
    async countDue(now, most) {
      return Number(await due([`${prefix}due`], now, most))
    },
    async list(account, { now, limit, after, order }) {
      const keys = [`${prefix}list:${nameOf(account)}`]
      const listed = (await list(keys, order, after ?? '', now, limit, accountKey(account))) as TaskFields[]
      return listed.map((fields) => taskOf(account, String(fields[6]), fields))
    },
    async search({ now, limit, after }) {
      const place = after === undefined ? '' : accountKey(after.account) + after.id
      const found = (await search([`${prefix}all`], place, after?.createdAt ?? '', now, limit)) as TaskFields[]
      return found.map(keyedOf)
    },
    async now() {
      const [seconds, micros] = (await send('TIME')) as [string, string]
      return Number(seconds) * 1000 + Number(micros) / 1000
    },
  }
}

/** Encodes an account for use in a key: its name may contain `:`, which separates the parts. */
function nameOf(account: string): string {
  return Buffer.from(account).toString('base64url')
}

function valuesOf({ id, version, createdAt, expiresAt, dueAt, leasedUntil, data }: TaskRecord): (string | number)[] {
  return [id, version, createdAt, expiresAt, dueAt ?? '', leasedUntil, JSON.stringify(data)]
}

function taskOf(account: string, id: string, [version, created, expires, due, leased, data]: TaskFields): TaskRecord {
  return {
    account,
    id,
    version: Number(version),
    createdAt: Number(created),
    expiresAt: Number(expires),
    dueAt: due === '' || due === null || due === undefined ? null : Number(due),
    leasedUntil: Number(leased),
    data: JSON.parse(data ?? 'null') as Json,
  }
}

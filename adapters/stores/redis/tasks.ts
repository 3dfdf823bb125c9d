/**
 * Video tasks in Redis: a hash for each, and sorted sets of the names of those that are due, those that have ended, those of each
 * account, and all of them. All are under one base, because a script uses several of them; in a cluster, all are on one node.
 */
import type { Json, TaskRecord, TaskStore } from '../index.ts'
import { valueIn } from '../unreadable.ts'
import { lua, type Scripts } from './scripts.ts'

/** `task` reads one, with its name as the last value. */
const text = `
local due_tasks, ended, all = key('due'), key('over'), key('all')
local function list_of(name) return key('list', string.match(name, '^[^:]*')) end
local function task(name)
  local found = redis.call('HMGET', key('task', name), 'version', 'created', 'expires', 'due', 'leased', 'data')
  found[7] = name
  return found
end
local function put()
  local name, version, created, expires, due, leased, data = unpack(ARGV, 2, 8)
  redis.call('HSET', key('task', name), 'version', version, 'created', created, 'expires', expires, 'due', due,
    'leased', leased, 'data', data)
  redis.call('ZADD', list_of(name), created, name)
  redis.call('ZADD', all, created, name)
  if due == '' then
    redis.call('ZREM', due_tasks, name)
    redis.call('ZADD', ended, expires, name)
  else
    redis.call('ZREM', ended, name)
    redis.call('ZADD', due_tasks, math.max(tonumber(due), tonumber(leased)), name)
  end
end
`

const find = lua(text, `return task(ARGV[2])`)

const insert = lua(
  text,
  `
local old = task(ARGV[2])
if old[1] and not (old[4] == '' and tonumber(old[3]) <= tonumber(ARGV[4])) then return old end
put()
`,
)

const replace = lua(
  text,
  `
if redis.call('HGET', key('task', ARGV[2]), 'version') ~= ARGV[9] then return 0 end
put()
return 1
`,
)

const claim = lua(
  text,
  `
local at, leased = ARGV[2], ARGV[3]
for _, name in ipairs(redis.call('ZRANGEBYSCORE', ended, '-inf', at, 'LIMIT', 0, 200)) do
  redis.call('DEL', key('task', name))
  for _, set in ipairs({ list_of(name), ended, all }) do redis.call('ZREM', set, name) end
end
local claimed = {}
for i, name in ipairs(redis.call('ZRANGEBYSCORE', due_tasks, '-inf', at, 'LIMIT', 0, ARGV[4])) do
  redis.call('HINCRBY', key('task', name), 'version', 1)
  redis.call('HSET', key('task', name), 'leased', leased)
  redis.call('ZADD', due_tasks, leased, name)
  claimed[i] = task(name)
end
return claimed
`,
)

/** Reads names from the one after `ARGV[7]` on, a few at a time; if there is no such one, from those before the time `ARGV[8]`. */
const list = lua(
  text,
  `
local set, descends, at, limit = key(ARGV[2], ARGV[3]), ARGV[4] ~= 'asc', tonumber(ARGV[5]), tonumber(ARGV[6])
local after, before = ARGV[7], ARGV[8]
local found, from = {}, 0
if after ~= '' then
  local rank = redis.call(descends and 'ZREVRANK' or 'ZRANK', set, after)
  if not rank and before == '' then return found end
  from = rank and rank + 1 or redis.call('ZCOUNT', set, before, '+inf')
end
while true do
  local names = redis.call(descends and 'ZREVRANGE' or 'ZRANGE', set, from, from + limit - 1)
  for _, name in ipairs(names) do
    local each = task(name)
    if each[1] and (tonumber(each[3]) or 0) > at then
      found[#found + 1] = each
      if #found >= limit then return found end
    end
  end
  if #names < limit then return found end
  from = from + limit
end
`,
)

const countDue = lua(`return math.min(redis.call('ZCOUNT', key('due'), '-inf', ARGV[2]), tonumber(ARGV[3]))`)
const time = lua(`return real(now)`)

type TaskFields = readonly (string | null)[]

export function redisTasks(scripts: Scripts, base: string): TaskStore {
  const many = async (script: string, ...args: (string | number)[]) =>
    (await scripts.run<TaskFields[]>(script, base, ...args)).map(taskOf)
  return {
    async insert(task) {
      const present = await scripts.run<TaskFields | null>(insert, base, ...valuesOf(task))
      return present === null ? task : taskOf(present)
    },
    async find(account, id, now) {
      const fields = await scripts.run<TaskFields>(find, base, nameOf({ account, id }))
      return fields[0] === null || Number(fields[2]) <= now ? undefined : taskOf(fields)
    },
    replace: async (task) => (await scripts.run<number>(replace, base, ...valuesOf(task), task.version - 1)) === 1,
    async claim({ now, leaseMs, limit }) {
      const claimed = await many(claim, now, now + leaseMs, limit)
      return claimed.sort((left, right) => Number(left.dueAt) - Number(right.dueAt))
    },
    countDue: (now, most) => scripts.run<number>(countDue, base, now, most),
    list: (account, { now, limit, after, order }) =>
      many(
        list,
        'list',
        encoded(account),
        order,
        now,
        limit,
        after === undefined ? '' : nameOf({ account, id: after }),
        '',
      ),
    search: ({ now, limit, after }) =>
      many(list, 'all', '', 'desc', now, limit, after === undefined ? '' : nameOf(after), after?.createdAt ?? ''),
    now: async () => Number(await scripts.run<string>(time, base)),
  }
}

/** The name of an account may contain `:`, which separates the parts. */
function encoded(account: string): string {
  return Buffer.from(account).toString('base64url')
}

function nameOf({ account, id }: Pick<TaskRecord, 'account' | 'id'>): string {
  return `${encoded(account)}:${id}`
}

function valuesOf(task: TaskRecord): (string | number)[] {
  const { version, createdAt, expiresAt, dueAt, leasedUntil, data } = task
  return [nameOf(task), version, createdAt, expiresAt, dueAt ?? '', leasedUntil, JSON.stringify(data)]
}

function taskOf([version, created, expires, due, leased, data, name]: TaskFields): TaskRecord {
  const [account = '', id = ''] = (name ?? '').split(':')
  return {
    account: Buffer.from(account, 'base64url').toString(),
    id,
    version: Number(version),
    createdAt: Number(created),
    expiresAt: Number(expires),
    dueAt: due === '' ? null : Number(due),
    leasedUntil: Number(leased),
    data: (valueIn(data) ?? null) as Json,
  }
}

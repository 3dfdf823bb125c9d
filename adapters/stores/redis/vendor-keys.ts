/**
 * Accounts' own keys at vendors: a hash of all, and a sorted set of their names, in which those of an account are neighbours. All
 * under one base, so that one number says how often they have changed.
 */
import type { VendorKeyName, VendorKeyRecord, VendorKeyStore } from '../index.ts'
import { objectIn } from '../unreadable.ts'
import type { KeyBases } from './key-bases.ts'
import { lua, type Scripts } from './scripts.ts'

const text = `
local records, names = key('vendor keys'), key('vendor key names')
local function changed() redis.call('INCR', key('vendor key changes')) end
local function named(from, to, most)
  local found = redis.call('ZRANGEBYLEX', names, from, to, 'LIMIT', 0, most)
  if #found == 0 then return { found, found } end
  return { found, redis.call('HMGET', records, unpack(found)) }
end
`

const put = lua(
  text,
  `
redis.call('HSET', records, ARGV[2], ARGV[3])
redis.call('ZADD', names, 0, ARGV[2])
changed()
`,
)

const reseal = lua(
  text,
  `
local found = redis.call('HGET', records, ARGV[2])
if not found or cjson.decode(found).sealed ~= ARGV[3] then return 0 end
redis.call('HSET', records, ARGV[2], ARGV[4])
return 1
`,
)

const range = lua(text, `return named(ARGV[2], ARGV[3], ARGV[4])`)

/** Of one name, or of all in a range. */
const remove = lua(
  text,
  `
for _, name in ipairs(redis.call('ZRANGEBYLEX', names, ARGV[2], ARGV[3])) do
  redis.call('HDEL', records, name)
  redis.call('ZREM', names, name)
end
changed()
`,
)

const revision = lua(`return redis.call('GET', key('vendor key changes')) or '0'`)

/** Keys of an account: many more than the gateway stores. */
const most = 1_000

export function redisVendorKeys(scripts: Scripts, { shared }: KeyBases): VendorKeyStore {
  const read = async (from: string, to: string, limit: number) => {
    const [names, texts] = await scripts.run<readonly (readonly string[])[]>(range, shared, from, to, limit)
    return names?.map((name, at) => recordOf(name, texts?.[at])) ?? []
  }
  return {
    async put(record) {
      await scripts.run(put, shared, nameOf(record), JSON.stringify(record))
    },
    async reseal(record, before) {
      return (await scripts.run<number>(reseal, shared, nameOf(record), before, JSON.stringify(record))) === 1
    },
    list: (account) => read(...namesOf(account), most),
    page: (after, limit) => read(after === undefined ? '-' : `(${nameOf(after)}`, '+', limit),
    async delete(name) {
      await scripts.run(remove, shared, `[${nameOf(name)}`, `[${nameOf(name)}`)
    },
    async deleteAll(account) {
      await scripts.run(remove, shared, ...namesOf(account))
    },
    revision: async () => String(await scripts.run(revision, shared)),
  }
}

/** Of one that cannot be read, the name: no secret opens it. */
function recordOf(name: string, text: string | undefined): VendorKeyRecord {
  const [account = '', provider = ''] = name.split('\0')
  const found = objectIn(text) as VendorKeyRecord | undefined
  return found ?? { account, provider, sealed: '', hint: '', createdAt: 0 }
}

/** Neither part has the separator, and no character is before it. */
function nameOf({ account, provider }: VendorKeyName): string {
  return `${account}\0${provider}`
}

/** The range of the names of an account. */
function namesOf(account: string): [from: string, to: string] {
  return [`[${account}\0`, `(${account}\u0001`]
}

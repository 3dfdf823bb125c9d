/** API keys: one record for each key, found by its hash. */
import { pageOfKeys, type KeyRecord, type KeyStore } from '../index.ts'
import type { ChangePoll } from '../change-poll.ts'
import { keyIn } from '../unreadable.ts'
import { changedText } from './changes.ts'
import { lua, type Scripts } from './scripts.ts'

const find = lua(`return redis.call('GET', key('key', ARGV[2]))`)

const insert = lua(
  changedText,
  `
local id, hash, account, created, record = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if redis.call('EXISTS', key('key', hash)) == 1 or redis.call('HEXISTS', key('key ids'), id) == 1 then return 0 end
redis.call('SET', key('key', hash), record)
redis.call('HSET', key('key ids'), id, hash)
redis.call('ZADD', key('keys of', account), created, id)
changed(hash)
return 1
`,
)

const update = lua(
  changedText,
  `
local id, version, account, created, record = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6]
local hash = redis.call('HGET', key('key ids'), id)
local current = hash and redis.call('GET', key('key', hash))
if not current then return 0 end
local readable, before = pcall(cjson.decode, current)
if readable and type(before) == 'table' and before.version then
  if before.version ~= version - 1 then return 0 end
  redis.call('ZREM', key('keys of', before.account), id)
end
redis.call('ZADD', key('keys of', account), created, id)
redis.call('SET', key('key', hash), record)
changed(hash)
return 1
`,
)

const list = lua(`
local found = {}
local ids = redis.call('ZREVRANGE', key('keys of', ARGV[2]), 0, -1, 'WITHSCORES')
for i = 1, #ids, 2 do
  local hash = redis.call('HGET', key('key ids'), ids[i])
  found[#found + 1] = { hash, redis.call('GET', key('key', hash)), ids[i], ids[i + 1] }
end
return found
`)

/** A part of all records. */
const scan = lua(`
local found = {}
local page = redis.call('HSCAN', key('key ids'), ARGV[2], 'COUNT', 500)
for i = 2, #page[2], 2 do
  local record = redis.call('GET', key('key', page[2][i]))
  if record then table.insert(found, { page[2][i], record, page[2][i - 1] }) end
end
return { page[1], found }
`)

/** All keys are under `base`, because ids and hashes are unique among the keys of all accounts. */
export function redisKeys(scripts: Scripts, base: string, changes: ChangePoll): KeyStore {
  return {
    async find(hash) {
      const record = await scripts.run<string | null>(find, base, hash)
      return record === null ? undefined : recordOf([hash, record], '', true)
    },
    async insert(record) {
      const { id, hash, account, createdAt } = record
      return (await scripts.run<number>(insert, base, id, hash, account, createdAt, jsonOf(record))) === 1
    },
    async update(record) {
      const { id, version, account, createdAt } = record
      return (await scripts.run<number>(update, base, id, version, account, createdAt, jsonOf(record))) === 1
    },
    async list(account) {
      return (await scripts.run<Found[]>(list, base, account)).map((found) => recordOf(found, account))
    },
    async search(question) {
      const records: KeyRecord[] = []
      let cursor = '0'
      do {
        const [next, found] = await scripts.run<[string, Found[]]>(scan, base, cursor)
        records.push(...found.map((each) => recordOf(each)))
        cursor = next
      } while (cursor !== '0')
      // A scan may return a key twice.
      return pageOfKeys([...new Map(records.map((record) => [record.id, record])).values()], question)
    },
    watch: (changed) => changes.watchKeys(changed),
  }
}

/** The record without its hash, which never changes. */
function jsonOf(record: KeyRecord): string {
  return JSON.stringify({ ...record, hash: undefined })
}

/** Hash, record, id, and when it was created. */
type Found = readonly [hash: string, record: string | null, id?: string, createdAt?: string]

function recordOf([hash, text, id, createdAt]: Found, account: string = '', isAlone: boolean = false): KeyRecord {
  const known = {
    id: id ?? `with hash ${hash.slice(0, 12)}`,
    hash,
    account,
    createdAt: Number(createdAt ?? 0),
    version: 0,
  }
  return keyIn(text, known, isAlone)
}

/** Models, groups and prices: a field of one hash each. */
import type { RegistryEntry, RegistryStore } from '../index.ts'
import { registryChange, type ChangePoll } from '../change-poll.ts'
import { changedText } from './changes.ts'
import { lua, type Scripts } from './scripts.ts'

const read = lua(`return redis.call('HVALS', key('registry'))`)

/** The version precedes the text, so that no script reads it. */
const put = lua(
  changedText,
  `
local name, version, text = ARGV[2], tonumber(ARGV[3]), ARGV[4]
local current = redis.call('HGET', key('registry'), name)
local before = current and tonumber(string.match(current, '^%d+')) or 0
if before ~= version - 1 then return 0 end
redis.call('HSET', key('registry'), name, version .. ' ' .. text)
changed('${registryChange}')
return 1
`,
)

export function redisRegistry(scripts: Scripts, base: string, changes: ChangePoll): RegistryStore {
  return {
    async all() {
      const texts = await scripts.run<readonly string[]>(read, base)
      return texts.map((text) => JSON.parse(text.slice(text.indexOf(' ') + 1)) as RegistryEntry)
    },
    async put(entry) {
      const name = `${entry.kind} ${entry.id}`
      return (await scripts.run<number>(put, base, name, entry.version, JSON.stringify(entry))) === 1
    },
    watch: (changed) => changes.watchRegistry(changed),
  }
}

/** Models, groups and prices: a field of one hash each. */
import type { RegistryEntry, RegistryStore } from '../index.ts'
import { registryChange, type ChangePoll } from '../change-poll.ts'
import { objectIn } from '../unreadable.ts'
import { changedText } from './changes.ts'
import { lua, type Scripts } from './scripts.ts'

const read = lua(`return redis.call('HGETALL', key('registry'))`)

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
      return texts.flatMap((name, at) => (at % 2 === 0 ? [entryOf(name, texts[at + 1] as string)] : []))
    },
    async put(entry) {
      const name = `${entry.kind} ${entry.id}`
      return (await scripts.run<number>(put, base, name, entry.version, JSON.stringify(entry))) === 1
    },
    watch: (changed) => changes.watchRegistry(changed),
  }
}

/** What cannot be read has a value that breaks the rules of its kind. */
function entryOf(name: string, text: string): RegistryEntry {
  const [kind, id] = [name.slice(0, name.indexOf(' ')), name.slice(name.indexOf(' ') + 1)]
  const found = objectIn(text.slice(text.indexOf(' ') + 1)) as RegistryEntry | undefined
  return found ?? { kind: kind as RegistryEntry['kind'], id, version: Number.parseInt(text) || 0, value: null }
}

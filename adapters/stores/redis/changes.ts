/** What has changed lately: keys by their hash, and the registry of models as a whole. */
import { ChangePoll } from '../change-poll.ts'
import { lua, type Scripts } from './scripts.ts'

/** Records a change, for an hour: much longer than the interval at which watchers poll. */
export const changedText: string = `
local function changed(name)
  -- Later than the last one, so that watchers can tell them apart.
  local last = tonumber(redis.call('ZSCORE', key('key changes'), name) or 0)
  redis.call('ZADD', key('key changes'), real(math.max(now, last + 0.001)), name)
  redis.call('ZREMRANGEBYSCORE', key('key changes'), '-inf', real(now - 3600000))
end
`

/** A change becomes visible a little after its timestamp, so each poll repeats the last seconds. */
const lately = lua(`
local since = tonumber(ARGV[2]) or now
return { real(now), redis.call('ZRANGEBYSCORE', key('key changes'), real(since - 5000), '+inf', 'WITHSCORES') }
`)

export function redisChanges(scripts: Scripts, base: string): ChangePoll {
  return new ChangePoll(async (since) => {
    const [now, flat] = await scripts.run<[string, unknown[]]>(lately, base, since ?? 'never')
    // RESP2 returns names and scores alternately, RESP3 in pairs.
    const fields = flat.flat().map(String)
    const seen = fields.flatMap((hash, index) => (index % 2 === 0 ? [{ hash, at: fields[index + 1] ?? '' }] : []))
    return { now, changes: seen }
  })
}

/** Limits: the level of each rate bucket, and a sorted set of leases for each bucket of concurrency slots. Unused ones expire. */
import type { LimitStore, LimitVerdict } from '../index.ts'
import { lua, type Scripts } from './scripts.ts'

/** `check` decides on a claim, `draw` takes what it claims, `give` returns what a request held. */
export const limitsText: string = `
local function used(rule)
  local level = redis.call('GET', key('bucket', rule.bucket))
  if not level then return 0 end
  local drawn, at = string.match(level, '^(%S+) (%S+)$')
  return math.max(0, tonumber(drawn) - math.max(0, now - tonumber(at)) * rule.limit / rule.periodMs)
end
local function spend(rule)
  local level = math.max(0, used(rule) + rule.cost)
  local name = key('bucket', rule.bucket)
  if level == 0 then return redis.call('DEL', name) end
  local until_full = math.min(level * rule.periodMs / rule.limit + 1000, 1e15)
  redis.call('SET', name, real(level) .. ' ' .. real(now), 'PX', whole(math.ceil(until_full)))
end
local function check(claim)
  local admitted, left, free = true, {}, {}
  for i, rule in ipairs(claim.rates) do
    left[i] = rule.burst - used(rule)
    if left[i] < rule.cost then admitted = false end
  end
  for i, rule in ipairs(claim.places) do
    local name = key('places', rule.bucket)
    redis.call('ZREMRANGEBYSCORE', name, '-inf', real(now))
    local held = redis.call('ZCARD', name)
    if redis.call('ZSCORE', name, claim.id) then held = held - 1 end
    if held >= rule.places then admitted = false end
    free[i] = rule.places - held
  end
  return { admitted = admitted, left = left, free = free }
end
local function draw(claim, verdict)
  for i, rule in ipairs(claim.rates) do
    spend(rule)
    verdict.left[i] = verdict.left[i] - rule.cost
  end
  for i, rule in ipairs(claim.places) do
    local name = key('places', rule.bucket)
    redis.call('ZADD', name, real(now + claim.leaseMs), claim.id)
    local ttl = math.max(claim.leaseMs, redis.call('PTTL', name))
    redis.call('PEXPIRE', name, whole(math.ceil(ttl + 1000)))
    verdict.free[i] = verdict.free[i] - 1
  end
end
local function reply_of(verdict)
  local left, free = {}, {}
  for i, units in ipairs(verdict.left) do left[i] = real(units) end
  for i, slots in ipairs(verdict.free) do free[i] = real(slots) end
  return { verdict.admitted and '1' or '0', left, free }
end
local function give(returned)
  for _, bucket in ipairs(returned.places) do redis.call('ZREM', key('places', bucket), returned.id) end
  for _, rule in ipairs(returned.corrections) do spend(rule) end
end
`

const take = lua(
  limitsText,
  `
local claim = cjson.decode(ARGV[2])
local verdict = check(claim)
if verdict.admitted then draw(claim, verdict) end
return reply_of(verdict)
`,
)

const give = lua(limitsText, `give(cjson.decode(ARGV[2]))`)

const renew = lua(`
local lease = tonumber(ARGV[3])
for _, holder in ipairs(cjson.decode(ARGV[2])) do
  for _, bucket in ipairs(holder.places) do
    local name = key('places', bucket)
    local expires = redis.call('ZSCORE', name, holder.id)
    if expires and tonumber(expires) > now then
      redis.call('ZADD', name, real(now + lease), holder.id)
      redis.call('PEXPIRE', name, whole(math.ceil(math.max(lease, redis.call('PTTL', name)) + 1000)))
    end
  end
end
`)

export type VerdictReply = readonly ['0' | '1', readonly string[], readonly string[]]

export function redisLimits(scripts: Scripts): LimitStore {
  return {
    async take(claim) {
      return verdictOf(await scripts.run<VerdictReply>(take, JSON.stringify(claim)))
    },
    async give(returned) {
      await scripts.run(give, JSON.stringify(returned))
    },
    async renew(holders, leaseMs) {
      await scripts.run(renew, JSON.stringify(holders), leaseMs)
    },
  }
}

export function verdictOf([admitted, left, free]: VerdictReply): LimitVerdict {
  return { admitted: admitted === '1', left: left.map(Number), free: free.map(Number) }
}

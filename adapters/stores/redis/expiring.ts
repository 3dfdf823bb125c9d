/** Sorted sets whose members expire: each is scored by its expiry. */

/** Defines `note`, which adds a member that expires in `age` milliseconds, and removes up to a hundred expired ones. */
export const expiringText = `
local function note(set, member, age)
  local expired = redis.call('ZRANGEBYSCORE', set, '-inf', real(now), 'LIMIT', 0, 100)
  if #expired > 0 then redis.call('ZREM', set, unpack(expired)) end
  redis.call('ZADD', set, real(now + age), member)
  redis.call('PEXPIRE', set, whole(math.max(math.ceil(age), redis.call('PTTL', set))))
end
`

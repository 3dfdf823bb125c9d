/** Limits in Lua: the level of each rate bucket, and a sorted set of leases for each bucket of places. Unused ones expire. */

/**
 * Needs `argumentsText`. Levels are read once and written once a script. `held_of` counts the places that are held, `spend`
 * draws units, `write_buckets` ends the script.
 */
export const bucketsText: string = `
local levels, drawn = {}, {}
for _, rate in ipairs(rates) do
  levels[rate.name] = 0
  if rate.found then
    local level, at = struct.unpack('>dd', rate.found)
    levels[rate.name] = math.max(0, level - math.max(0, now - at) * rate.limit / rate.period)
  end
end
local function spend(rate, cost)
  levels[rate.name] = math.max(0, levels[rate.name] + cost)
  drawn[rate.name] = rate
end
local function write_buckets()
  for name, rate in pairs(drawn) do
    local level = levels[name]
    if level == 0 then
      redis.call('DEL', name)
    else
      local ttl = rate.ttl
      if level > rate.burst then ttl = whole(math.ceil(math.min(level * rate.period / rate.limit + 1000, 1e15))) end
      redis.call('SET', name, struct.pack('>dd', level, now), 'PX', ttl)
    end
  end
end
local places = {}
local function places_of(name)
  local found = places[name]
  if found then return found end
  local all = redis.call('ZCARD', name)
  local lapsed = all == 0 and 0 or redis.call('ZCOUNT', name, '-inf', now)
  found = { held = all - lapsed }
  if lapsed > 0 then
    local removed = math.min(lapsed, 200)
    redis.call('ZREMRANGEBYRANK', name, 0, removed - 1)
    all = all - removed
  end
  found.is_new = all == 0
  places[name] = found
  return found
end
local function holds_place(name, id)
  local ends = redis.call('ZSCORE', name, id)
  return ends and tonumber(ends) > now
end
local function expire_after(name, ms, is_new)
  if is_new then redis.call('PEXPIRE', name, whole(ms)) else redis.call('PEXPIRE', name, whole(ms), 'GT') end
end
local function take_place(name, id, lease)
  local found = places_of(name)
  local is_new = true
  if redis.call('ZADD', name, 'NX', ends_after(lease), id) == 0 then
    is_new = not holds_place(name, id)
    redis.call('ZADD', name, ends_after(lease), id)
  end
  if is_new then found.held = found.held + 1 end
  if lease > (found.lease or 0) then
    found.lease = lease
    expire_after(name, math.ceil(lease) + 1000, found.is_new)
    found.is_new = false
  end
  return is_new
end
`

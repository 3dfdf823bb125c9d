/**
 * Caps in Lua. Under the base of what accounts share: for each cap and window a hash with the use of each period, for each hold
 * with caps, those of slices too, and each of their settlements a string, a sorted set of the holds by the end of their leases, and
 * the notices.
 */
import { capUseMs } from '../index.ts'
import { slicesOfCaps } from './slices-text.ts'

/** Milliseconds for which a settlement is remembered at least, so that a repetition counts nothing. */
const chargeMs = 7 * 24 * 3_600_000
/** Milliseconds for which a notice is kept. */
const noticeMs = 36 * 24 * 3_600_000

/**
 * Needs `ledgerText`. `ARGV[3]` is the base of the caps; empty if they are on another node. `cap_books` makes the functions when a
 * script first needs them: most calls do not. `write_caps` ends the script.
 */
export const capsText: string = `
local caps, books_of_caps = ARGV[3], nil
local function make_cap_books()
local measures = { 'money', 'tokens', 'calls' }
-- The last number is absent from what was written before slices held caps.
local use_packing, none_ahead = '>dddddddddddd', struct.pack('>d', 0)
local windows = {}
local function window_of(period)
  local key = caps .. 'use:' .. #period.name .. ':' .. period.name .. ':' .. period.window
  local found = windows[key]
  if found then return found end
  found = { uses = {}, changed = {} }
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    local n = { struct.unpack(use_packing, fields[i + 1] .. none_ahead) }
    found.uses[fields[i]] = { start = tonumber(fields[i]), ends = n[1],
      settled = { unpacked(n[2], n[3]), unpacked(n[4], n[5]), n[6] },
      held = { unpacked(n[7], n[8]), unpacked(n[9], n[10]), n[11], n[12] } }
  end
  windows[key] = found
  return found
end
-- 'by': money, tokens and calls, and of a slice the calls again, as those that are held in advance.
local function change(period, part, by, sign)
  local found, field = window_of(period), whole(period.start)
  local use = found.uses[field]
  if not use then
    -- The use of a hold that is so old that its period is forgotten.
    if part == 'held' and sign < 0 then return end
    use = { start = tonumber(period.start), ends = tonumber(period['end']), settled = { 0, 0, 0 }, held = { 0, 0, 0, 0 } }
    found.uses[field] = use
  end
  for i = 1, #by do use[part][i] = sign > 0 and plus(use[part][i], by[i]) or minus(use[part][i], by[i]) end
  found.changed[field], found.rolling = use, tonumber(period.rolling)
end
local function sums_of(period)
  local settled, held, first = { 0, 0, 0 }, { 0, 0, 0, 0 }, tonumber(period['end'])
  local last = tonumber(period.start)
  for _, use in pairs(window_of(period).uses) do
    if use.start <= last and use.start >= last - period.rolling then
      for i = 1, 3 do
        settled[i], held[i] = plus(settled[i], use.settled[i]), plus(held[i], use.held[i])
        if use.settled[i] ~= 0 or use.held[i] ~= 0 then first = math.min(first, use.ends) end
      end
      held[4] = held[4] + use.held[4]
    end
  end
  return settled, held, first
end
local function period_at(claim)
  local period = { name = claim.name, window = claim.window, rolling = claim.rolling }
  if claim.grain then
    period.start = math.floor(now / claim.grain) * claim.grain
    period['end'] = period.start + claim.grain
    return period
  end
  for i = #claim.boundaries - 1, 1, -1 do
    if claim.boundaries[i] <= now and now < claim.boundaries[i + 1] then
      period.start, period['end'] = claim.boundaries[i], claim.boundaries[i + 1]
      return period
    end
  end
  error("the store's clock is outside the periods of the cap " .. claim.name .. ': set the clocks of gateway and store', 0)
end
local function limits_of(claim)
  local stored = redis.call('HMGET', caps .. 'override:' .. claim.name, 'money', 'tokens', 'calls', 'until', 'until_money',
    'until_tokens', 'until_calls')
  local temporary, limits = stored[4] and now < tonumber(stored[4]), {}
  for i, measure in ipairs(measures) do
    local text = temporary and stored[4 + i] or stored[i] or claim.limits[measure] or 'none'
    limits[i] = text ~= 'none' and amount(text)
  end
  return limits
end
local function states_of(claims, periods)
  local states = {}
  for i, period in ipairs(periods) do
    local settled, held, first = sums_of(period)
    states[i] = { period = period, settled = settled, held = held, limits = limits_of(claims[i]),
      resets = first + period.rolling, index = claims[i].index }
  end
  return states
end
local function text_of_states(states)
  local rows = {}
  for i, state in ipairs(states) do
    local period = state.period
    local row = { whole(period.start), whole(period['end']), whole(period.rolling), whole(state.resets) }
    for j = 1, 3 do
      row[4 + j], row[7 + j] = text_of(state.settled[j]), text_of(state.held[j])
      row[10 + j] = state.limits[j] and text_of(state.limits[j]) or 'none'
    end
    row[14], row[15] = whole(state.index), whole(state.held[4])
    rows[i] = row
  end
  return cjson.encode(rows)
end
local function fit(states, more)
  for _, state in ipairs(states) do
    for i = 1, 3 do
      local limit = state.limits[i]
      if limit and less(limit, plus(plus(state.settled[i], state.held[i]), more[i])) then return false end
    end
  end
  return true
end
-- The holds that the script has read; those that it makes or changes are written at its end.
local cap_holds, known = caps .. 'cap-holds:', {}
local function cap_hold_of(call)
  if known[call] == nil then
    local text = redis.call('GET', caps .. 'cap-hold:' .. call)
    local held = text and cjson.decode(text)
    known[call] = held and { periods = held.periods, by = { amount(held.money), amount(held.tokens), held.calls or 1, held.calls } }
  end
  return known[call]
end
local function drop_cap_hold(call)
  local held = cap_hold_of(call)
  if not held then return end
  known[call] = false
  if not held.ends then
    redis.call('DEL', caps .. 'cap-hold:' .. call)
    redis.call('ZREM', cap_holds, call)
  end
  for _, period in ipairs(held.periods) do change(period, 'held', held.by, -1) end
end
local function drop_expired_cap_holds(most)
  local expired = redis.call('ZRANGEBYSCORE', cap_holds, '-inf', now, 'LIMIT', 0, most)
  for _, call in ipairs(expired) do
    drop_cap_hold(call)
    redis.call('ZREM', cap_holds, call)
  end
  return #expired == most
end
local function claimed(text)
  local claim = cjson.decode(text)
  claim.periods = {}
  for i, each in ipairs(claim.claims) do
    each.index = i
    claim.periods[i] = period_at(each)
  end
  return claim
end
local function make_cap_hold(claim, call, ends, by)
  local periods = {}
  for i, period in ipairs(claim.periods) do
    change(period, 'held', by, 1)
    periods[i] = { name = period.name, window = period.window, start = whole(period.start), ['end'] = whole(period['end']),
      rolling = whole(period.rolling) }
  end
  known[call] = { periods = periods, by = by, ends = ends, changed = true }
end
local function hold_caps(claim, kept)
  local made = kept and cap_hold_of(claim.call)
  if made then
    local claims, periods = {}, {}
    for _, each in ipairs(claim.claims) do
      for _, period in ipairs(made.periods) do
        if period.name == each.name and period.window == each.window then
          claims[#claims + 1], periods[#periods + 1] = each, period
        end
      end
    end
    return 'held', states_of(claims, periods)
  end
  drop_cap_hold(claim.call)
  drop_expired_cap_holds(10)
  local more = { amount(claim.money), amount(claim.tokens), 1 }
  local states = states_of(claim.claims, claim.periods)
  if not fit(states, more) then
    local all = not drop_expired_cap_holds(1000)
    states = states_of(claim.claims, claim.periods)
    if not fit(states, more) then return all and 'capped' or 'again', states end
  end
  make_cap_hold(claim, claim.call, ends_after(claim.lease), more)
  for _, state in ipairs(states) do
    for i = 1, 3 do state.held[i] = plus(state.held[i], more[i]) end
    state.resets = math.min(state.resets, state.period['end'] + state.period.rolling)
  end
  return 'held', states
end
${slicesOfCaps}
local notes = 0
local function note(mark, charge, value)
  local notice = { notice = mark.notice, settlement = charge.id, account = charge.account, value = text_of(value),
    at = whole(math.floor(now)), attempts = 0 }
  if redis.call('SET', caps .. 'notice:' .. mark.id, cjson.encode(notice), 'NX', 'PX', '${noticeMs}') then
    notes = notes + 1
    redis.call('ZADD', caps .. 'notices:', real(now + notes / 1000), mark.id)
    -- What is listed: of the account, and of all.
    for _, list in ipairs({ caps .. 'noticed:' .. charge.account, caps .. 'noticed:' }) do
      redis.call('ZADD', list, real(now + notes / 1000), mark.id)
      redis.call('ZREMRANGEBYSCORE', list, '-inf', real(now - ${noticeMs}))
      redis.call('PEXPIRE', list, '${noticeMs}')
    end
  end
end
local function settle_caps(charge, before, after)
  drop_cap_hold(charge.call)
  local counted, ends = {}, now + ${chargeMs}
  for i, cap in ipairs(charge.caps) do
    counted[i] = { name = cap.name, window = cap.window, start = whole(cap.start), ['end'] = whole(cap['end']),
      rolling = whole(cap.rolling) }
    ends = math.max(ends, cap['end'] + cap.rolling + ${capUseMs})
  end
  local record = cjson.encode({ left = charge.money, periods = counted })
  if #counted > 0 and redis.call('SET', caps .. 'cap-charge:' .. charge.call, record, 'NX', 'PX', whole(ends - now)) then
    local by = { amount(charge.money), amount(charge.tokens), 1 }
    for _, cap in ipairs(charge.caps) do
      local used = #cap.marks > 0 and sums_of(cap)
      change(cap, 'settled', by, 1)
      for _, mark in ipairs(cap.marks) do
        local at, was = amount(mark.at), used[mark.measure]
        local is = plus(was, by[mark.measure])
        if less(was, at) and not less(is, at) then note(mark, charge, is) end
      end
    end
  end
  for _, mark in ipairs(before and charge.marks or {}) do
    local at = amount(mark.at)
    if less(after, at) and not less(before, at) then note(mark, charge, after) end
  end
end
local function refund_caps(call, by, reference)
  local name = caps .. 'cap-charge:' .. call
  local text = redis.call('GET', name)
  if not text then return end
  local marker = caps .. 'cap-refund:' .. reference
  if not redis.call('SET', marker, '1', 'NX', 'PX', redis.call('PTTL', name)) then return end
  local charge = cjson.decode(text)
  local left = amount(charge.left)
  local money = less(by, left) and by or left
  charge.left = text_of(minus(left, money))
  redis.call('SET', name, cjson.encode(charge), 'KEEPTTL')
  for _, period in ipairs(charge.periods) do change(period, 'settled', { money, 0, 0 }, -1) end
end
local function write()
  for call, held in pairs(known) do
    if held and held.changed then
      local money, tokens, _, calls = text_of(held.by[1]), text_of(held.by[2]), held.by[3], held.by[4]
      local text = cjson.encode({ money = money, tokens = tokens, calls = calls, periods = held.periods })
      redis.call('SET', caps .. 'cap-hold:' .. call, text)
      if held.ends then redis.call('ZADD', cap_holds, held.ends, call) end
    end
  end
  for key, found in pairs(windows) do
    if next(found.changed) then
      local fields, last = {}, 0
      for field, use in pairs(found.uses) do
        local ends = use.ends + found.rolling + ${capUseMs}
        last = math.max(last, ends)
        if found.changed[field] then
          local numbers = {}
          for _, part in ipairs({ 'settled', 'held' }) do
            for i = 1, 2 do
              local high, low = packed(use[part][i])
              numbers[#numbers + 1], numbers[#numbers + 2] = high, low
            end
            numbers[#numbers + 1] = use[part][3]
          end
          numbers[#numbers + 1] = use.held[4]
          fields[#fields + 1], fields[#fields + 2] = field, struct.pack(use_packing, use.ends, unpack(numbers))
        elseif ends < now then
          redis.call('HDEL', key, field)
        end
      end
      redis.call('HSET', key, unpack(fields))
      redis.call('PEXPIREAT', key, whole(math.max(last, now + ${capUseMs})))
    end
  end
end
return { claimed = claimed, hold = hold_caps, drop = drop_cap_hold, drop_expired = drop_expired_cap_holds, settle = settle_caps,
  refund = refund_caps, states_of = states_of, text_of = text_of_states, left_of = left_of, hold_slice = hold_slice,
  move = move_cap_hold, write = write }
end
local function cap_books()
  books_of_caps = books_of_caps or make_cap_books()
  return books_of_caps
end
local function write_caps() if books_of_caps then books_of_caps.write() end end
`

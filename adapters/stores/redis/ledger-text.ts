/**
 * The ledger in Lua. An account is a string of packed numbers, a hash with what is seldom needed, a sorted set of its open
 * holds by the end of their leases, and a list of its entries. Each call has a string: `h` and the amount while it is held, `c`
 * if it counts for caps, too; after its end `s`, the charge and the overage, or `r`. What is held for slices is another hash.
 */
import { amountText } from './amounts-text.ts'

/** Milliseconds for which the end of a hold is remembered. */
const endMs = 7 * 24 * 3_600_000

/**
 * Needs `argumentsText`. `ARGV[2]` is the number of entries to keep for each account. An account is read once, and all
 * that have changed are written in one command. `hold` and `end_hold` change an account, `write_accounts` ends the script.
 */
export const ledgerText: string = `${amountText}
local never = 1e15
-- A later version may append numbers: they are kept.
local packing, packed_bytes = '>dddddddd', 64
local function packed(sum)
  if type(sum) == 'number' then return 0, sum end
  return sum[1], sum[2]
end
local function unpacked(high, low) return high == 0 and low or { high, low } end
local function read_account(account)
  if account.balance then return account end
  account.holds, account.lines = account.base .. 'holds:' .. account.id, {}
  account.slices = account.base .. 'slices:' .. account.id
  if account.found then
    local high, low, held_high, held_low, soonest, number, unlimited, created = struct.unpack(packing, account.found)
    account.balance, account.held = unpacked(high, low), unpacked(held_high, held_low)
    account.soonest, account.number, account.unlimited, account.created = soonest, number, unlimited == 1, created
    account.rest = string.sub(account.found, packed_bytes + 1)
  else
    account.balance, account.held, account.soonest, account.number = 0, 0, never, 0
  end
  return account
end
local function saved(book)
  local high, low = packed(book.balance)
  local held_high, held_low = packed(book.held)
  return struct.pack(packing, high, low, held_high, held_low, book.soonest, book.number, book.unlimited and 1 or 0,
    book.created) .. (book.rest or '')
end
local function open(book)
  if book.created then return end
  book.created, book.changed = math.floor(now), true
  redis.call('ZADD', book.base .. 'accounts', 0, book.id)
end
local function cap_call_of(book, id) return #book.id .. ':' .. book.id .. ':' .. id end
local function call_of(book, id) return book.base .. 'call:' .. cap_call_of(book, id) end
local function is_held(text)
  local state = text and string.sub(text, 1, 1)
  return state == 'h' or state == 'c'
end
local function drop(book, id, text)
  local held = amount(string.sub(text, 2))
  redis.call('ZREM', book.holds, id)
  book.balance, book.held, book.changed = plus(book.balance, held), minus(book.held, held), true
  return held
end
local function slices_of(book, id)
  local found, fields = {}, id and { id, redis.call('HGET', book.slices, id) } or redis.call('HGETALL', book.slices)
  for i = 1, #fields, 2 do
    local ends, calls, capped, held = string.match(fields[i + 1] or '', '^(%d+) (%d+) (c?)(%d+)$')
    if ends then
      found[fields[i]] = { ends = tonumber(ends), calls = tonumber(calls), held = amount(held), capped = capped == 'c' }
    end
  end
  return found
end
local function return_expired(book, most)
  local ids = redis.call('ZRANGEBYSCORE', book.holds, '-inf', now, 'LIMIT', 0, most)
  for _, id in ipairs(ids) do
    local name = call_of(book, id)
    local call = redis.call('GET', name)
    if is_held(call) then
      drop(book, id, call)
      redis.call('DEL', name)
    else
      redis.call('ZREM', book.holds, id)
    end
  end
  if #ids < most then
    local first = redis.call('ZRANGE', book.holds, 0, 0, 'WITHSCORES')
    book.soonest, book.changed = tonumber(first[2] or never), true
    for id, slice in pairs(slices_of(book)) do
      if slice.ends > now then
        book.soonest = math.min(book.soonest, slice.ends)
      else
        redis.call('HDEL', book.slices, id)
        book.balance, book.held = plus(book.balance, slice.held), minus(book.held, slice.held)
      end
    end
  end
end
local written_at
local function write_entry(book, kind, reference, by, overage, note)
  written_at = written_at or whole(math.floor(now))
  book.number, book.changed = book.number + 1, true
  table.insert(book.lines, table.concat({ string.format('%d', book.number), kind, written_at, by, overage,
    string.format('%d', #reference), reference .. (note and '=' .. note or '') }, ' '))
end
local function hold(book, id, call, requested_text, lease, capped)
  local requested = amount(requested_text)
  local free = capped and requested == 0
  if not book.created and not free then return 'insufficient' end
  if now >= book.soonest then return_expired(book, 10) end
  local poor = less(book.balance, requested) and not book.unlimited and not free
  local held = (capped and 'c' or 'h') .. requested_text
  if poor or not redis.call('SET', call.name, held, 'NX') then
    local text = redis.call('GET', call.name)
    if text and not is_held(text) then return 'ended' end
    if text then
      call.text = text
      if tonumber(redis.call('ZSCORE', book.holds, id) or 0) > now then return 'kept' end
      drop(book, id, text)
      redis.call('DEL', call.name)
      return hold(book, id, call, requested_text, lease, capped)
    end
    if now < book.soonest then return 'insufficient' end
    return_expired(book, 1000)
    if not less(book.balance, requested) then return hold(book, id, call, requested_text, lease, capped) end
    return now < book.soonest and 'insufficient' or 'again'
  end
  local ends = ends_after(lease)
  redis.call('ZADD', book.holds, ends, id)
  book.balance, book.held = minus(book.balance, requested), plus(book.held, requested)
  book.soonest, book.changed = math.min(book.soonest, tonumber(ends)), true
  call.text = held
  return 'held'
end
local function undo_hold(book, id, call)
  if not is_held(call.text) then return end
  redis.call('DEL', call.name)
  drop(book, id, call.text)
  call.text = false
end
local function end_hold(book, id, call, charge_text)
  local state = call.text and string.sub(call.text, 1, 1)
  if state == 's' then return 'already ' .. string.sub(call.text, 2) end
  if state == 'r' then return 'released 0 0' end
  open(book)
  local charge, covered, overage = charge_text and amount(charge_text) or 0, 0, '0'
  if state and (call.moved or now < book.soonest or tonumber(redis.call('ZSCORE', book.holds, id) or 0) > now) then
    covered = amount(string.sub(call.text, 2))
  end
  if less(covered, charge) then overage = text_of(minus(charge, covered)) end
  local sums = (charge_text or '0') .. ' ' .. overage
  local ended = charge_text and 's' .. sums or 'r'
  redis.call('SET', call.name, ended, 'PX', '${endMs}')
  if state then drop(book, id, call.text) end
  call.text = ended
  book.balance = minus(book.balance, charge)
  write_entry(book, charge_text and 'settle' or 'release', id, charge == 0 and '0' or '-' .. charge_text, overage)
  return 'settled ' .. sums
end
local function keep_entries(book)
  local entries = book.base .. 'entries:' .. book.id
  local excess = redis.call('LPUSH', entries, unpack(book.lines)) - tonumber(ARGV[2])
  if excess <= 0 then return end
  local old = redis.call('HMGET', book.base .. 'sums:' .. book.id, 'old_credits', 'old_settlements')
  local credits, settlements = amount(old[1]), amount(old[2])
  for _, line in ipairs(redis.call('RPOP', entries, math.min(excess, 1000))) do
    local kind, by = string.match(line, '^%d+ (%a+) %d+ (-?%d+)')
    if kind == 'credit' then credits = plus(credits, amount(by)) else settlements = minus(settlements, amount(by)) end
  end
  redis.call('HSET', book.base .. 'sums:' .. book.id, 'old_credits', text_of(credits), 'old_settlements', text_of(settlements))
end
local function write_accounts()
  local changed, count = {}, 0
  for _, book in ipairs(accounts) do
    if book.changed and book.created then
      changed[count + 1], changed[count + 2] = book.key, saved(book)
      count = count + 2
      if #book.lines > 0 then keep_entries(book) end
    end
  end
  if count > 0 then redis.call('MSET', unpack(changed)) end
end
`

/**
 * Slices in Lua. What an account holds in advance is a hash of the account: for each slice the end of its lease, the number of calls
 * that it may still admit, and the sum of their holds, after a `c` if they count for caps. These then have a hold for all of its calls.
 * Of each limit of places, it holds one for each call: its id and a number.
 *
 * These are parts of scripts, not functions: a script spends its time on the functions that it defines, even if it calls none.
 */
import { shares } from '../slice-shares.ts'

/** The part of `admit` that draws a slice for as many further calls as there is plenty for, `ahead`; a repetition finds it. */
export const drawingSlice: string = `
      local id, more, sum, ends, ms = next_text(), next_number(), amount(next_text()), ends_after(next_number()), next_number()
      local left = states and outcome == 'held' and cap_books().left_of(counts, states, ms) or {}
      if not book.unlimited then left[#left + 1], left[#left + 2] = book.balance, sum end
      for i = 1, #left, 2 do
        local own_high, own_low = halves(left[i])
        local high, low = halves(left[i + 1])
        more = math.min(more, (own_high * unit + own_low) / math.max(1, (high * unit + low) * ${shares.units}))
      end
      for i, rate in ipairs(wanted) do
        more = math.min(more, (rate.burst - levels[rate.name]) / math.max(1e-6, costs[i] * ${shares.units}))
      end
      for _, slot in ipairs(taking) do
        more = math.min(more, (slot.places - places_of(slot.name).held) / ${shares.places})
      end
      local known = outcome == 'kept' and slices_of(book, id)[id]
      more = outcome == 'held' and math.max(0, math.floor(more)) or 0
      ahead = known and known.calls or more
      if more > 0 then
        local high, low = halves(sum)
        sum = joined(high * more, low * more)
        redis.call('HSET', book.slices, id, ends .. ' ' .. more .. ' ' .. (states and 'c' or '') .. text_of(sum))
        if states then cap_books().hold_slice(counts, cap_call_of(book, id), ends, sum, more) end
        book.balance, book.held = minus(book.balance, sum), plus(book.held, sum)
        book.soonest = math.min(book.soonest, tonumber(ends))
        for i, rate in ipairs(wanted) do spend(rate, costs[i] * more) end
        for _, slot in ipairs(taking) do
          local places = {}
          for i = 1, more do places[2 * i - 1], places[2 * i] = ends, id .. ' ' .. i end
          redis.call('ZADD', slot.name, unpack(places))
          places_of(slot.name).held = places_of(slot.name).held + more
        end
      end
`

/** The part of `capsText` for slices. They count only where `left_of` has told that there is plenty, so nothing here is refused for a limit. */
export const slicesOfCaps: string = `
-- For each limited measure what is left, and what a call needs. Of a period that ends in less than 'ms', nothing is left.
local function left_of(claim, states, ms)
  local left = {}
  for _, state in ipairs(states) do
    if state.period['end'] < now + ms then return { 0, 1 } end
    for i, need in ipairs({ amount(claim.money), amount(claim.tokens), 1 }) do
      if state.limits[i] then
        left[#left + 1], left[#left + 2] = minus(minus(state.limits[i], state.settled[i]), state.held[i]), need
      end
    end
  end
  return left
end
local function hold_slice(claim, slice, ends, money, calls)
  local high, low = halves(amount(claim.tokens))
  make_cap_hold(claim, slice, ends, { money, joined(high * calls, low * calls), calls, calls })
end
local function move_cap_hold(slice, call, ends, money, tokens)
  local from, by = cap_hold_of(slice), { money, tokens, 1, 1 }
  if not from or less(from.by[2], tokens) then return false end
  for i = 1, 4 do from.by[i] = minus(from.by[i], by[i]) end
  from.changed, known[call] = true, { periods = from.periods, by = { money, tokens, 1 }, ends = ends, changed = true }
  for _, period in ipairs(from.periods) do change(period, 'held', { 0, 0, 0, 1 }, -1) end
  return true
end
`

/** Needs `ledgerText` and `bucketsText`. What the next two share: what is to be written, by the names of sets. */
export const slicesText: string = `
local slices
local function add_to(sets, name, ...)
  local found = sets[name] or {}
  for _, each in ipairs({ ... }) do found[#found + 1] = each end
  sets[name] = found
end
`

/**
 * The part of `finish` for a slice: one that a call was drawn from, which gets a hold and places of its own, or one that has ended.
 * `writingSlices` writes what became of them, so that a call that the same script ends gets none.
 */
export const endingSlice: string = `
    slices = slices or { open = {}, moved = {}, added = {}, removed = {}, leases = {} }
    local book = read_account(account)
    local name = book.slices .. ' ' .. id
    local slice = slices.open[name]
    if slice == nil then
      slice = slices_of(book, id)[id] or false
      if slice then slice.id, slice.book = id, book end
      slices.open[name] = slice
    end
    local function free()
      for _, slot in ipairs(freed) do add_to(slices.removed, slot.name, id .. ' ' .. slice.calls) end
      slice.calls, slice.changed = slice.calls - 1, true
    end
    if kind == 'draw' then
      local hold_id, call, text, lease, place_lease = next_text(), calls[next_number()], next_text(), next_number(), next_number()
      local held, tokens = amount(text), amount(next_text())
      local fits = slice and not call.text and slice.ends > now and slice.calls > 0 and not less(slice.held, held)
      if fits and slice.capped then
        fits = cap_books().move(cap_call_of(book, id), cap_call_of(book, hold_id), ends_after(lease), held, tokens)
      end
      if fits then
        free()
        slice.held, call.text, call.moved = minus(slice.held, held), (slice.capped and 'c' or 'h') .. text, true
        slices.moved[hold_id] = { book = book, call = call, ends = ends_after(lease), places = {} }
        for _, slot in ipairs(freed) do
          slices.moved[hold_id].places[slot.name] = ends_after(place_lease)
          slices.leases[slot.name] = math.max(slices.leases[slot.name] or 0, place_lease)
        end
      end
    elseif not slice or slice.gone then
      corrections = {}
    else
      while slice.calls > 0 do free() end
      book.balance, book.held, book.changed = plus(book.balance, slice.held), minus(book.held, slice.held), true
      slice.held, slice.gone = 0, true
      if slice.capped then cap_books().drop(cap_call_of(book, id)) end
    end
    freed = {}
`

/** Ends a script with `endingSlice`, before `write_accounts`. */
export const writingSlices: string = `
if slices then
  for id, each in pairs(slices.moved) do
    local book, call = each.book, each.call
    if is_held(call.text) then
      redis.call('SET', call.name, call.text)
      add_to(slices.added, book.holds, each.ends, id)
      book.soonest, book.changed = math.min(book.soonest, tonumber(each.ends)), true
    end
    for name, ends in pairs(each.places) do add_to(slices.added, name, ends, id) end
  end
  for _, slice in pairs(slices.open) do
    if slice and slice.gone then
      redis.call('HDEL', slice.book.slices, slice.id)
    elseif slice and slice.changed then
      local text = whole(slice.ends) .. ' ' .. slice.calls .. ' ' .. (slice.capped and 'c' or '') .. text_of(slice.held)
      redis.call('HSET', slice.book.slices, slice.id, text)
    end
  end
  -- In this order, because a set without members would lose its expiry.
  for name, members in pairs(slices.added) do redis.call('ZADD', name, unpack(members)) end
  for name, members in pairs(slices.removed) do redis.call('ZREM', name, unpack(members)) end
  for name, lease in pairs(slices.leases) do expire_after(name, math.ceil(lease) + 1000, false) end
end
`

/**
 * Amounts in Lua scripts. Lua's numbers are exact for integers up to 2^53: enough for one amount, not for every sum. So an
 * amount is a number, or beyond 9 × 10^15 a pair of numbers, exact up to 10^24. `amount` parses a string, `text_of` formats.
 */
export const amountText: string = `
local unit, most = 1000000000, 9e15
local function joined(high, low)
  local carry = math.floor(low / unit)
  high, low = high + carry, low - carry * unit
  if high > -9000000 and high < 9000000 then return high * unit + low end
  return { high, low }
end
local function halves(sum)
  if type(sum) == 'table' then return sum[1], sum[2] end
  local high = math.floor(sum / unit)
  local low = sum - high * unit
  if low < 0 then return high - 1, low + unit end
  return high, low
end
local function plus(a, b)
  if type(a) == 'number' and type(b) == 'number' then
    local sum = a + b
    if sum > -most and sum < most then return sum end
  end
  local high, low = halves(a)
  local high_b, low_b = halves(b)
  return joined(high + high_b, low + low_b)
end
local function minus(a, b)
  if type(b) == 'number' then return plus(a, 0 - b) end
  return plus(a, joined(-b[1], -b[2]))
end
local function less(a, b)
  if type(a) == 'number' and type(b) == 'number' then return a < b end
  local high, low = halves(a)
  local high_b, low_b = halves(b)
  return high < high_b or (high == high_b and low < low_b)
end
local function amount(text)
  if not text then return 0 end
  if #text <= 15 then return tonumber(text) end
  local sign, digits = string.match(text, '^(-?)(%d+)$')
  local value = joined(tonumber(string.sub(digits, 1, -10)), tonumber(string.sub(digits, -9)))
  return sign == '-' and minus(0, value) or value
end
local function text_of(sum)
  if type(sum) == 'number' then return string.format('%d', sum) end
  if sum[1] < 0 then return '-' .. text_of(minus(0, sum)) end
  return string.format('%.0f%09.0f', sum[1], sum[2])
end
`

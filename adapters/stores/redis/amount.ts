/**
 * Amounts in scripts. Lua's numbers count whole numbers up to 2^53, which a single amount keeps to and a sum of them does
 * not: here they are pairs of numbers, exact up to 10^24. `amount` reads a text, `text_of` prints one; between the two
 * they are added, subtracted, negated and compared as numbers are.
 */
export const amountText: string = `
local unit, amounts = 1000000000, {}
local function pair(high, low)
  local carry = math.floor(low / unit)
  return setmetatable({ high = high + carry, low = low - carry * unit }, amounts)
end
amounts.__add = function(a, b) return pair(a.high + b.high, a.low + b.low) end
amounts.__sub = function(a, b) return pair(a.high - b.high, a.low - b.low) end
amounts.__unm = function(a) return pair(-a.high, -a.low) end
amounts.__lt = function(a, b) return a.high < b.high or (a.high == b.high and a.low < b.low) end
local zero = pair(0, 0)
local function amount(text)
  local sign, digits = string.match(text or '0', '^(-?)(%d+)$')
  if not digits then return zero end
  local found = pair(tonumber(string.sub(digits, 1, -10)) or 0, tonumber(string.sub(digits, -9)))
  return sign == '-' and -found or found
end
local function text_of(sum)
  local natural = sum < zero and -sum or sum
  local text = natural.high == 0 and string.format('%.0f', natural.low)
    or string.format('%.0f%09.0f', natural.high, natural.low)
  return sum < zero and '-' .. text or text
end
`

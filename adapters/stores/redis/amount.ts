/**
 * Amounts in Lua scripts. Lua's numbers are exact for integers up to 2^53: enough for one amount, not for a sum. An amount is
 * therefore a pair of numbers, exact up to 10^24, with the operators `+`, `-` and `<`. `amount` parses a string, `text_of`
 * formats one.
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
  local value = pair(tonumber(string.sub(digits, 1, -10)) or 0, tonumber(string.sub(digits, -9)))
  return sign == '-' and -value or value
end
local function text_of(sum)
  local absolute = sum < zero and -sum or sum
  local text = absolute.high == 0 and string.format('%.0f', absolute.low)
    or string.format('%.0f%09.0f', absolute.high, absolute.low)
  return sum < zero and '-' .. text or text
end
`

/** Money that expires: fields of the hash of an account, and a sorted set of the accounts by the time when they are due. */
import type { Allotment, LedgerLots } from '../index.ts'
import type { AskAccount } from './accounts.ts'
import { argumentsText } from './call-arguments.ts'
import type { KeyBases } from './key-bases.ts'
import { ledgerText } from './ledger-text.ts'
import { lua, type Scripts } from './scripts.ts'

/** Stores an allotment, unless it was changed. Needs `ledgerText`. */
export const allotText = `
local function allot(book, was, lots, due)
  local sums = book.base .. 'sums:' .. book.id
  if (redis.call('HGET', sums, 'lots_version') or '0') ~= was then return false end
  redis.call('HSET', sums, 'lots', lots)
  redis.call('HINCRBY', sums, 'lots_version', 1)
  if due == '' then redis.call('ZREM', book.base .. 'lots', book.id)
  else redis.call('ZADD', book.base .. 'lots', due, book.id) end
  return true
end
`

const read = lua(
  argumentsText,
  ledgerText,
  `
local found = {}
each_call(function()
  local book = read_account(accounts[next_number()])
  if not book.created then return '' end
  local sums = redis.call('HMGET', book.base .. 'sums:' .. book.id, 'credited', 'lots_version', 'lots')
  found = { text_of(book.balance), text_of(book.held), sums[1] or '0', sums[2] or '0', sums[3] }
  return ''
end)
return found
`,
)

const write = lua(
  argumentsText,
  ledgerText,
  allotText,
  `
local done = 0
each_call(function()
  local book = read_account(accounts[next_number()])
  done = book.created and allot(book, next_text(), next_text(), next_text()) and 1 or 0
  return ''
end)
return done
`,
)

/** Up to `ARGV[3]` accounts of each base that are due at `ARGV[2]`, each followed by its time. */
const due = lua(`
local found = {}
for i, base in ipairs(KEYS) do
  found[i] = redis.call('ZRANGEBYSCORE', base .. 'lots', '-inf', ARGV[2], 'WITHSCORES', 'LIMIT', 0, ARGV[3])
end
return found
`)

/** The arguments of an allotment; empty if there is none. */
export function allotmentTexts(allotment: Allotment | undefined): string[] {
  if (allotment === undefined) return ['', '', '']
  const { was, lots, due: at } = allotment
  return [String(was), lots, at === undefined ? '' : String(at)]
}

export function redisLots(scripts: Scripts, { all }: KeyBases, ask: AskAccount): LedgerLots {
  return {
    async read(account) {
      const found = await ask<(string | null)[]>(read, account)
      const [balance, held, credited, version, lots] = found
      if (balance === undefined) return undefined
      const [free, open] = [BigInt(balance as string), BigInt(held as string)]
      const settled = BigInt(credited as string) - free - open
      return { balance: free, held: open, settled, version: Number(version), ...(lots && { lots }) }
    },
    write: async (account, allotment) => (await ask<number>(write, account, allotmentTexts(allotment))) === 1,
    async due(before, limit) {
      const lists = await scripts.lists<string>(due, all, before, limit)
      const found = lists.flatMap((list) =>
        list.flatMap((id, at) => (at % 2 === 0 ? [{ id, at: Number(list[at + 1]) }] : [])),
      )
      return found
        .sort((left, right) => left.at - right.at)
        .slice(0, limit)
        .map(({ id }) => id)
    },
  }
}

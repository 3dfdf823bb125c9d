/** Compares the balances with the entries. */
import type { LedgerAudit } from '../index.ts'
import { ledgerText } from './ledger-text.ts'
import type { KeyBases } from './key-bases.ts'
import { lua, type Scripts } from './scripts.ts'

/** Adds up the accounts after `ARGV[3]`, a few at a time: sums of credits and settlements, open holds, and the balance. */
const sums = lua(
  'local accounts = {}',
  ledgerText,
  `
local found, after, seen = {}, ARGV[3], 0
while seen < 5000 do
  local id = redis.call('ZRANGEBYLEX', base .. 'accounts', after == '' and '-' or ('(' .. after), '+', 'LIMIT', 0, 1)[1]
  if not id then return { found, '' } end
  after = id
  local book = read_account({ base = base, id = id, found = redis.call('GET', key('account', id)) })
  local old = redis.call('HMGET', key('sums', id), 'old_credits', 'old_settlements')
  local credits, settlements, held = amount(old[1]), amount(old[2]), 0
  local lines, holds = redis.call('LRANGE', key('entries', id), 0, -1), redis.call('ZRANGE', book.holds, 0, -1)
  for _, line in ipairs(lines) do
    local kind, by = string.match(line, '^%d+ (%a+) %d+ (-?%d+)')
    if kind == 'credit' then credits = plus(credits, amount(by)) else settlements = minus(settlements, amount(by)) end
  end
  for _, hold in ipairs(holds) do
    held = plus(held, amount(string.sub(redis.call('GET', call_of(book, hold)) or 'h0', 2)))
  end
  for _, slice in pairs(slices_of(book)) do held = plus(held, slice.held) end
  found[#found + 1] = { id, text_of(book.balance), text_of(held), text_of(credits), text_of(settlements) }
  seen = seen + 1 + #lines + #holds
end
return { found, after }
`,
)

type Sums = readonly [id: string, balance: string, held: string, credits: string, settlements: string]

export async function auditAccounts(scripts: Scripts, keyBases: KeyBases, kept: number): Promise<LedgerAudit> {
  const total = { accounts: 0, credits: 0n, balances: 0n, holds: 0n, settlements: 0n }
  const faults: LedgerAudit['faults'][number][] = []
  const auditBase = async (base: string) => {
    let after: string | undefined
    while (after !== '') {
      const reply: [Sums[], string] = await scripts.run<[Sums[], string]>(sums, base, kept, after ?? '')
      after = reply[1]
      for (const [account, ...texts] of reply[0]) {
        const [balance, held, credits, settlements] = texts.map(BigInt) as [bigint, bigint, bigint, bigint]
        const expected = credits - settlements - held
        if (balance !== expected) faults.push({ account, balance, expected })
        total.accounts++
        total.credits += credits
        total.balances += balance
        total.holds += held
        total.settlements += settlements
      }
    }
  }
  await Promise.all(keyBases.all.map(auditBase))
  return { ...total, faults }
}

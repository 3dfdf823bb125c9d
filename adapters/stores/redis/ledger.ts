/** The ledger: holds, charges and payments. */
import { batchedHolds } from '../batched-admission.ts'
import type { CreditVerdict, Ledger } from '../index.ts'
import { Accounts, askingAccounts } from './accounts.ts'
import { argumentsText, callOf } from './call-arguments.ts'
import { auditAccounts } from './audit.ts'
import { ledgerText } from './ledger-text.ts'
import { redisCaps, refundCaps } from './caps.ts'
import type { Calls } from './calls.ts'
import { readEntries, readEntriesAfter } from './entries.ts'
import type { KeyBases } from './key-bases.ts'
import type { Leases } from './leases.ts'
import { allotmentTexts, allotText, redisLots } from './lots.ts'
import { lua, type Scripts } from './scripts.ts'

/** First step of a credit, on the node of the reference: whose it is. A repetition completes a credit that ended after it. */
const claimReference = lua(`
local claimed = redis.call('SET', key('credit', ARGV[2]), ARGV[3], 'NX', 'GET')
return (not claimed or claimed == ARGV[3]) and 1 or 0
`)

/** Second step, on the node of the account: books the credit unless it has been booked. */
const book = lua(
  argumentsText,
  ledgerText,
  allotText,
  `
local function credit()
  local book, by, reference, noted, note = read_account(accounts[next_number()]), next_text(), next_text(), next_text(), next_text()
  local spent_to, was, lots, due = next_text(), next_text(), next_text(), next_text()
  local sums, marker = book.base .. 'sums:' .. book.id, book.base .. 'credited:' .. reference
  local made = redis.call('GET', marker)
  if made then return 'already ' .. text_of(book.balance) .. ' ' .. made end
  if was ~= '' and not allot(book, was, lots, due) then return 'changed ' .. text_of(book.balance) .. ' 0' end
  local credited = amount(redis.call('HGET', sums, 'credited'))
  if spent_to ~= '' then
    local taken = minus(amount(spent_to), minus(credited, book.balance))
    for _, most in ipairs({ minus(0, amount(by)), book.balance }) do if less(most, taken) then taken = most end end
    by = less(0, taken) and '-' .. text_of(taken) or '0'
  end
  open(book)
  if by ~= '0' then
    redis.call('SET', marker, by)
    redis.call('HSET', sums, 'credited', text_of(plus(credited, amount(by))))
    book.balance = plus(book.balance, amount(by))
    write_entry(book, 'credit', reference, by, '0', noted == '1' and note)
  end
  return 'credited ' .. text_of(book.balance) .. ' ' .. by
end
each_call(credit)
write_accounts()
return replies
`,
)

export interface LedgerParts {
  readonly scripts: Scripts
  readonly keyBases: KeyBases
  readonly calls: Calls
  readonly leases: Leases
  /** Number of entries to keep for each account. */
  readonly kept: number
}

export function redisLedger({ scripts, keyBases, calls, leases, kept }: LedgerParts): Ledger {
  const ask = askingAccounts(scripts, keyBases, kept)
  const accounts = new Accounts(scripts, keyBases, ask)
  return {
    ...batchedHolds(calls),
    renew: (holds, leaseMs) => leases.renewHolds(holds, leaseMs),
    async credit({ account, amount, reference, note, refunds, allotment, spentTo }) {
      const owner = `${spentTo === undefined ? amount : 'expiry'} ${account}`
      if ((await scripts.run<number>(claimReference, keyBases.baseOf(reference), reference, owner)) === 0) {
        return { outcome: 'conflict', balance: (await accounts.read(account))?.balance ?? 0n }
      }
      const rest = [spentTo === undefined ? '' : String(spentTo), ...allotmentTexts(allotment)]
      const texts = [String(amount), reference, note === undefined ? '0' : '1', note ?? '', ...rest]
      const [reply = ''] = await ask<string[]>(book, account, texts)
      const [outcome, balance, booked] = reply.split(' ')
      if (outcome === 'error' || balance === undefined) throw new Error(reply)
      if (refunds !== undefined && amount > 0n) {
        await scripts.run(refundCaps, keyBases.shared, '', keyBases.shared, callOf(account, refunds), amount, reference)
      }
      const taken = spentTo !== undefined && { amount: BigInt(booked ?? 0) }
      return { outcome: outcome as CreditVerdict['outcome'], balance: BigInt(balance), ...taken }
    },
    open: (given) => accounts.open(given),
    account: (id) => accounts.read(id),
    accounts: (request) => accounts.page(request),
    entries: (account, request) => readEntries(scripts, keyBases, account, request),
    entriesAfter: (account, ...range) => readEntriesAfter(scripts, keyBases, account, ...range),
    caps: redisCaps(scripts, keyBases),
    lots: redisLots(scripts, keyBases, ask),
    close: () => calls.close(),
    audit: () => auditAccounts(scripts, keyBases, kept),
  }
}

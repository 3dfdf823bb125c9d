/** The ledger: for each account a hash, its open holds and its entries. */
import {
  pageOf,
  readNumberCursor,
  type CreditVerdict,
  type HoldVerdict,
  type Ledger,
  type LedgerAccount,
  type LedgerAudit,
  type LedgerEntry,
  type Page,
  type PageRequest,
  type SettleVerdict,
} from '../index.ts'
import { amountText } from './amount.ts'
import { lua, type Scripts } from './scripts.ts'

/** Milliseconds for which the end of a hold is stored. The reference of a credit is stored forever. */
const endMs = 30 * 24 * 3_600_000

/** `ARGV[3]` of every script that writes entries is the number of entries to keep for each account. */
export const ledgerText: string = `${amountText}
local function change(account, by)
  local name = key('account', account)
  local balance = amount(redis.call('HGET', name, 'balance')) + by
  redis.call('HSET', name, 'balance', text_of(balance))
  return balance
end
local function ensure(account)
  if redis.call('HSETNX', key('account', account), 'created', whole(math.floor(now))) == 1 then
    redis.call('HSETNX', key('account', account), 'balance', '0')
    redis.call('ZADD', key('accounts'), 0, account)
  end
end
local function drop(account, id)
  local held = redis.call('HGET', key('amounts', account), id)
  redis.call('HDEL', key('amounts', account), id)
  redis.call('ZREM', key('holds', account), id)
  return amount(held)
end
local function return_expired(account)
  local expired = redis.call('ZRANGEBYSCORE', key('holds', account), '-inf', real(now))
  local sum = zero
  for _, id in ipairs(expired) do sum = sum + drop(account, id) end
  if #expired > 0 then change(account, sum) end
end
local function write_entry(account, kind, reference, by, overage, note)
  local number = redis.call('INCR', key('number'))
  local entry = { number = number, account = account, kind = kind, reference = reference, amount = text_of(by),
    overage = text_of(overage), note = note, at = math.floor(now) }
  local entries = key('books', account)
  redis.call('LPUSH', entries, cjson.encode(entry))
  if redis.call('LLEN', entries) > tonumber(ARGV[3]) then
    local old = cjson.decode(redis.call('RPOP', entries))
    local sum = old.kind == 'credit' and 'old_credits' or 'old_settlements'
    local by_old = old.kind == 'credit' and amount(old.amount) or -amount(old.amount)
    redis.call('HSET', key('account', account), sum,
      text_of(amount(redis.call('HGET', key('account', account), sum)) + by_old))
  end
end
local function hold(id, account, requested, lease)
  local name = key('account', account)
  local balance = amount(redis.call('HGET', name, 'balance'))
  if redis.call('EXISTS', key('end', id)) == 1 then return { 'ended', text_of(balance) } end
  if redis.call('EXISTS', name) == 0 then return { 'insufficient', '0' } end
  local expires = redis.call('ZSCORE', key('holds', account), id)
  if balance < requested or (expires and tonumber(expires) <= now) then
    return_expired(account)
    balance = amount(redis.call('HGET', name, 'balance'))
    expires = redis.call('ZSCORE', key('holds', account), id)
  end
  if expires then return { 'held', text_of(balance) } end
  if balance < requested and redis.call('HGET', name, 'unlimited') ~= '1' then return { 'insufficient', text_of(balance) } end
  redis.call('ZADD', key('holds', account), real(now + lease), id)
  redis.call('HSET', key('amounts', account), id, text_of(requested))
  return { 'held', text_of(change(account, -requested)) }
end
local function end_hold(id, account, cost)
  local ended = redis.call('HMGET', key('end', id), 'kind', 'amount', 'overage')
  if ended[1] then return { ended[1] == 'settle' and 'already' or 'released', ended[2], ended[3] } end
  ensure(account)
  return_expired(account)
  local held, charge = drop(account, id), cost or zero
  local overage = held < charge and charge - held or zero
  local kind = cost and 'settle' or 'release'
  write_entry(account, kind, id, -charge, overage)
  change(account, held - charge)
  redis.call('HSET', key('end', id), 'kind', kind, 'amount', text_of(charge), 'overage', text_of(overage))
  redis.call('PEXPIRE', key('end', id), ${endMs})
  return { 'settled', text_of(charge), text_of(overage) }
end
`

const hold = lua(ledgerText, `return hold(ARGV[4], ARGV[5], amount(ARGV[6]), tonumber(ARGV[7]))`)

const endHold = lua(ledgerText, `return end_hold(ARGV[4], ARGV[5], ARGV[6] ~= 'none' and amount(ARGV[6]) or nil)`)

const renew = lua(
  ledgerText,
  `
for _, held in ipairs(cjson.decode(ARGV[4])) do
  local expires = redis.call('ZSCORE', key('holds', held.account), held.id)
  if expires and tonumber(expires) > now then
    redis.call('ZADD', key('holds', held.account), real(now + tonumber(ARGV[5])), held.id)
  end
end
`,
)

const credit = lua(
  ledgerText,
  `
local account, by, reference = ARGV[4], amount(ARGV[5]), ARGV[6]
local name = key('account', account)
local existing = redis.call('HMGET', key('credit', reference), 'account', 'amount')
if existing[1] then
  local same = existing[1] == account and existing[2] == text_of(by)
  return { same and 'already' or 'conflict', text_of(amount(redis.call('HGET', name, 'balance'))) }
end
ensure(account)
local balance = change(account, by)
redis.call('HSET', key('credit', reference), 'account', account, 'amount', text_of(by))
write_entry(account, 'credit', reference, by, zero, ARGV[7])
return { 'credited', text_of(balance) }
`,
)

/**
 * Reads accounts, each as a list of strings. With `open`, creates or changes the account first; with `audit`, the sums of
 * credits and settlements include the entries that are still kept.
 */
const readAccounts = lua(
  ledgerText,
  `
local found = {}
for i = 4, #ARGV do
  local given = cjson.decode(ARGV[i])
  local name = key('account', given.id)
  if given.open then
    ensure(given.id)
    if given.name then redis.call('HSET', name, 'name', given.name) end
    if given.unlimited ~= nil then redis.call('HSET', name, 'unlimited', given.unlimited and '1' or '0') end
  end
  if redis.call('EXISTS', name) == 1 then
    return_expired(given.id)
    local fields = redis.call('HMGET', name, 'balance', 'unlimited', 'name', 'created', 'old_credits', 'old_settlements')
    local held, credits, settlements = zero, amount(fields[5]), amount(fields[6])
    for _, each in ipairs(redis.call('HVALS', key('amounts', given.id))) do held = held + amount(each) end
    if given.audit then
      for _, line in ipairs(redis.call('LRANGE', key('books', given.id), 0, -1)) do
        local entry = cjson.decode(line)
        if entry.kind == 'credit' then credits = credits + amount(entry.amount) end
        if entry.kind == 'settle' then settlements = settlements - amount(entry.amount) end
      end
    end
    table.insert(found, { given.id, fields[1], text_of(held), fields[2] or '0', fields[3] or false, fields[4],
      text_of(credits), text_of(settlements) })
  end
end
return found
`,
)

const ids = lua(`
local from = ARGV[2] == '' and '-' or ('(' .. ARGV[2])
return redis.call('ZRANGEBYLEX', key('accounts'), from, '+', 'LIMIT', '0', ARGV[3])
`)

/** The entries before a number, newest first. */
const entries = lua(`
local found, before, limit = {}, tonumber(ARGV[3]), tonumber(ARGV[4])
for from = 0, 1e9, 256 do
  local lines = redis.call('LRANGE', key('books', ARGV[2]), from, from + 255)
  for _, line in ipairs(lines) do
    if cjson.decode(line).number < before then table.insert(found, line) end
    if #found == limit then return found end
  end
  if #lines < 256 then return found end
end
`)

type AccountReply = readonly [string, string, string, string, string | null, string, string, string]

export function redisLedger(scripts: Scripts, kept: number): Ledger {
  const read = async (...queries: object[]) =>
    scripts.run<AccountReply[]>(readAccounts, '', kept, ...queries.map((query) => JSON.stringify(query)))
  const page = async ({ limit = 100, after = '' }: PageRequest): Promise<Page<string>> => {
    const found = await scripts.run<string[]>(ids, after, limit + 1)
    return pageOf(found, limit, (last) => last)
  }
  return {
    async hold({ id, account, amount, leaseMs }) {
      return holdVerdict(await scripts.run<HoldReply>(hold, '', kept, id, account, amount, leaseMs))
    },
    async settle({ id, account, amount }) {
      const [outcome, charged, overage] = await scripts.run<EndReply>(endHold, '', kept, id, account, amount)
      return { outcome, charged: BigInt(charged), overage: BigInt(overage) }
    },
    async release({ id, account }) {
      await scripts.run(endHold, '', kept, id, account, 'none')
    },
    async renew(holds, leaseMs) {
      await scripts.run(renew, '', kept, JSON.stringify(holds.map(({ id, account }) => ({ id, account }))), leaseMs)
    },
    async credit({ account, amount, reference, note }) {
      const args = ['', kept, account, amount, reference, ...(note === undefined ? [] : [note])]
      const [outcome, balance] = await scripts.run<[CreditVerdict['outcome'], string]>(credit, ...args)
      return { outcome, balance: BigInt(balance) }
    },
    async open(given) {
      return accountOf((await read({ ...given, open: true }))[0] as AccountReply)
    },
    async account(id) {
      const [found] = await read({ id })
      return found && accountOf(found)
    },
    async accounts(request) {
      const { items, ...rest } = await page(request)
      const found = items.length === 0 ? [] : await read(...items.map((id) => ({ id })))
      return { items: found.map(accountOf), ...rest }
    },
    async entries(account, { limit = 100, after = '999999999999999999' }) {
      const lines = await scripts.run<string[]>(entries, account, String(readNumberCursor(after)), limit + 1)
      return pageOf(lines.map(entryOf), limit, (last) => String(last.number))
    },
    async audit() {
      const sum = { accounts: 0, credits: 0n, balances: 0n, holds: 0n, settlements: 0n }
      const faults: LedgerAudit['faults'][number][] = []
      let after: string | undefined = ''
      while (after !== undefined) {
        const { items, next }: Page<string> = await page({ limit: 100, after })
        const found = items.length === 0 ? [] : await read(...items.map((id) => ({ id, audit: true })))
        for (const each of found) {
          const [balance, held, credits, settlements] = [each[1], each[2], each[6], each[7]].map(BigInt) as Sums
          const expected = credits - settlements - held
          if (balance !== expected) faults.push({ account: each[0], balance, expected })
          sum.accounts++
          sum.credits += credits
          sum.balances += balance
          sum.holds += held
          sum.settlements += settlements
        }
        after = next
      }
      return { ...sum, faults }
    },
  }
}

type Sums = [bigint, bigint, bigint, bigint]

type EndReply = readonly [SettleVerdict['outcome'], string, string]

export type HoldReply = readonly [HoldVerdict['outcome'], string]

export function holdVerdict([outcome, balance]: HoldReply): HoldVerdict {
  return { outcome, balance: BigInt(balance) }
}

function accountOf([id, balance, held, unlimited, name, created]: AccountReply): LedgerAccount {
  return {
    id,
    balance: BigInt(balance),
    held: BigInt(held),
    unlimited: unlimited === '1',
    ...(name !== null && { name }),
    createdAt: Number(created),
  }
}

function entryOf(line: string): LedgerEntry {
  const { amount, overage, ...rest } = JSON.parse(line) as Omit<LedgerEntry, 'amount' | 'overage'> &
    Record<string, string>
  return { ...rest, amount: BigInt(amount as string), overage: BigInt(overage as string) }
}

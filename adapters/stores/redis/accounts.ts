/** Reads accounts and their entries, and compares the books. */
import { pageOf, type Ledger, type LedgerAccount, type Page, type PageRequest } from '../index.ts'
import { argumentsText, Arguments } from './call-arguments.ts'
import { ledgerText } from './ledger-text.ts'
import type { KeyBases } from './key-bases.ts'
import { lua, type Scripts } from './scripts.ts'

/** Reads accounts, each as a list of strings; opens or changes those that come with changes. */
const read = lua(
  argumentsText,
  ledgerText,
  `
local found = {}
each_call(function()
  local book, opens, named, name, unlimited = read_account(accounts[next_number()]), next_text(), next_text(), next_text(), next_text()
  if opens == '1' then open(book) end
  if named == '1' then redis.call('HSET', book.base .. 'sums:' .. book.id, 'name', name) end
  if unlimited ~= '' then book.unlimited, book.changed = unlimited == '1', true end
  if not book.created then return '' end
  if now >= book.soonest then return_expired(book, 1000) end
  local name = redis.call('HGET', book.base .. 'sums:' .. book.id, 'name')
  local ahead = 0
  for _, slice in pairs(slices_of(book)) do ahead = plus(ahead, slice.held) end
  found[#found + 1] = { book.id, text_of(book.balance), text_of(book.held), text_of(ahead), book.unlimited and '1' or '0', name,
    whole(book.created), now >= book.soonest and 'more' or '' }
  return ''
end)
write_accounts()
for _, reply in ipairs(replies) do if reply ~= '' then return { { reply } } end end
return found
`,
)

/** The ids after `ARGV[2]`, up to `ARGV[3]` of each base, as one list for each. */
const ids = lua(`
local found = {}
for i, base in ipairs(KEYS) do
  found[i] = redis.call('ZRANGEBYLEX', base .. 'accounts', ARGV[2] == '' and '-' or ('(' .. ARGV[2]), '+', 'LIMIT', '0', ARGV[3])
end
return found
`)

type AccountReply = readonly [
  id: string,
  balance: string,
  held: string,
  ahead: string,
  unlimited: string,
  name: string | null,
  created: string,
  more: string,
]

/** Runs a script with `argumentsText` for one account: the arguments of its only call are the account and `texts`. */
export interface AskAccount {
  <Reply>(script: string, account: string, texts?: readonly string[]): Promise<Reply>
}

/** `kept`: number of ledger entries to keep for each account. */
export function askingAccounts(scripts: Scripts, keyBases: KeyBases, kept: number): AskAccount {
  return (script, account, texts = []) => {
    const args = new Arguments(keyBases)
    args.add([args.account(account), ...texts])
    return scripts.run(script, keyBases.baseOf(account), kept, '', ...args.values)
  }
}

export class Accounts {
  readonly #scripts: Scripts
  readonly #bases: KeyBases
  readonly #ask: AskAccount

  constructor(scripts: Scripts, keyBases: KeyBases, ask: AskAccount) {
    this.#scripts = scripts
    this.#bases = keyBases
    this.#ask = ask
  }

  async open({ id, name, unlimited }: Parameters<Ledger['open']>[0]): Promise<LedgerAccount> {
    const flag = unlimited === undefined ? '' : unlimited ? '1' : '0'
    return (await this.#read(id, ['1', name === undefined ? '0' : '1', name ?? '', flag])) as LedgerAccount
  }

  read(id: string): Promise<LedgerAccount | undefined> {
    return this.#read(id, ['0', '0', '', ''])
  }

  async page({ limit = 100, after = '' }: PageRequest): Promise<Page<LedgerAccount>> {
    const { items, ...rest } = pageOf(await this.#idsAfter(after, limit + 1), limit, (last) => last)
    const found = await Promise.all(items.map(async (id) => this.read(id)))
    return { items: found.filter((each) => each !== undefined), ...rest }
  }

  async #read(id: string, changes: string[]): Promise<LedgerAccount | undefined> {
    for (;;) {
      const [row] = await this.#ask<(AccountReply | [string])[]>(read, id, changes)
      if (row === undefined) return undefined
      if (row.length === 1) throw new Error(row[0])
      if (row[7] === '') return accountOf(row)
    }
  }

  /** The first ids after `after` of all bases together, in order. */
  async #idsAfter(after: string, count: number): Promise<string[]> {
    const found: string[] = []
    // Twice the share of each base, so that one round is nearly always enough.
    const share = Math.ceil((2 * count) / this.#bases.all.length) + 8
    for (let from = after; found.length < count;) {
      const lists = await this.#scripts.lists<string>(ids, this.#bases.all, from, share)
      const cut = lists.flatMap((list) => (list.length < share ? [] : [list.at(-1) as string]))
      const merged = lists.flat().sort(byBytes)
      // Beyond the end of a list that was cut off, ids of that base may be missing.
      const end = cut.sort(byBytes)[0]
      const whole = end === undefined ? merged : merged.filter((id) => byBytes(id, end) <= 0)
      found.push(...whole)
      if (end === undefined) break
      from = end
    }
    return found.slice(0, count)
  }
}

/** As Redis orders them. */
function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

function accountOf([id, balance, held, ahead, unlimited, name, created]: AccountReply): LedgerAccount {
  return {
    id,
    balance: BigInt(balance),
    held: BigInt(held),
    ...(ahead !== '0' && { ahead: BigInt(ahead) }),
    unlimited: unlimited === '1',
    ...(name !== null && { name }),
    createdAt: Number(created),
  }
}

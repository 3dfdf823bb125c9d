import { callback, checkKnown, count } from '../../records/known-options.ts'
import type {
  LedgerAccount,
  LedgerAudit,
  Credit,
  CreditVerdict,
  LedgerEntry,
  Hold,
  HoldVerdict,
  Ledger,
  Page,
  PageRequest,
  Settlement,
  SettleVerdict,
} from './contract.ts'
import { add, auditOf } from './memory-audit.ts'
import { MemoryLots } from './memory-lots.ts'
import { MemoryCaps, type CapDraw } from './memory-caps.ts'
import { pageOf, readNumberCursor } from '../../records/page.ts'

/** Options of `memoryLedger`. */
export interface MemoryLedgerOptions {
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /**
   * Maximum number of entries. Older ones are kept only as sums, and their ids are no longer recognised as used. Default
   * 10,000.
   */
  readonly entries?: number
}

/** A ledger in the memory of this process. All balances are lost on restart. */
export function memoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  checkKnown('memoryLedger', options, { clock: callback, entries: count })
  return new MemoryLedger(options.clock ?? Date.now, options.entries ?? 10_000)
}

interface OpenHold {
  readonly amount: bigint
  end: number
  readonly draw: CapDraw | undefined
}

interface Book {
  readonly id: string
  readonly createdAt: number
  name: string | undefined
  balance: bigint
  unlimited: boolean
  readonly holds: Map<string, OpenHold>
  /** No hold expires before this time. */
  soonest: number
  /** The sum of compacted entries, which is included in `settlements`. */
  opening?: LedgerEntry
  /** Sums of the entries that are no longer kept. */
  credits: bigint
  settlements: bigint
}

const none: readonly never[] = []

class MemoryLedger implements Ledger {
  readonly caps: MemoryCaps
  readonly lots: MemoryLots
  readonly #now: () => number
  readonly #most: number
  readonly #books = new Map<string, Book>()
  /** Entries by `holdKey` or `creditKey`, oldest first. */
  readonly #lines = new Map<string, LedgerEntry>()
  /** One iterator for all deletions: a new iterator of a Map steps over every deleted entry at its beginning. */
  #oldest: Iterator<[string, LedgerEntry], undefined> | undefined
  #number = 0

  constructor(now: () => number, most: number) {
    this.#now = now
    this.#most = most
    this.lots = new MemoryLots((account) => this.account(account))
    this.caps = new MemoryCaps(now, (account) => this.#expire(this.#book(account)))
  }

  hold({ id, account, amount, leaseMs, caps = none, tokens = 0n }: Hold): HoldVerdict {
    const known = this.#books.get(account)
    if (this.#lines.has(holdKey(id))) return { outcome: 'ended', balance: known?.balance ?? 0n }
    const isFree = amount === 0n && caps.length > 0
    if (known === undefined && !isFree) return { outcome: 'insufficient', balance: 0n }
    if (known !== undefined && this.#mustExpire(known, id, amount)) this.#expire(known)
    const { balance = 0n, unlimited = false } = known ?? {}
    const open = known?.holds.get(id)
    if (open !== undefined) {
      return { outcome: 'held', balance, ...(open.draw && { caps: this.caps.statesOf(caps, open.draw) }) }
    }
    if (balance < amount && !unlimited && !isFree) return { outcome: 'insufficient', balance }
    if (caps.length === 0) return this.#open(account, { id, amount, leaseMs, draw: undefined })
    const { states, draw } = this.caps.hold(caps, { money: amount, tokens, calls: 1n }, account)
    if (draw === undefined) return { outcome: 'capped', balance, caps: states }
    return { ...this.#open(account, { id, amount, leaseMs, draw }), caps: states }
  }

  settle(settlement: Settlement): SettleVerdict {
    const { id, account, amount, balanceThresholds } = settlement
    const book = this.#book(account)
    // An open hold has no entry.
    const ended = book.holds.has(id) ? undefined : this.#lines.get(holdKey(id))
    if (ended !== undefined) {
      const outcome = ended.kind === 'settle' ? 'already' : 'released'
      return { outcome, charged: -ended.amount, overage: ended.overage }
    }
    this.#expire(book)
    const held = this.#drop(book, id)
    const overage = amount > held ? amount - held : 0n
    book.balance += held - amount
    this.#write(holdKey(id), { account, kind: 'settle', reference: id, amount: -amount, overage })
    this.caps.settle(settlement)
    if (balanceThresholds !== undefined) this.#markBalance(book, settlement)
    return { outcome: 'settled', charged: amount, overage }
  }

  release({ id, account }: Pick<Hold, 'id' | 'account'>): void {
    if (this.#lines.has(holdKey(id))) return
    const book = this.#book(account)
    book.balance += this.#drop(book, id)
    this.#write(holdKey(id), { account, kind: 'release', reference: id, amount: 0n, overage: 0n })
  }

  renew(holds: readonly Pick<Hold, 'id' | 'account'>[], leaseMs: number): void {
    const now = this.#now()
    for (const { id, account } of holds) {
      const book = this.#books.get(account)
      const hold = book?.holds.get(id)
      if (book === undefined || hold === undefined || hold.end <= now) continue
      hold.end = now + leaseMs
      book.soonest = Math.min(book.soonest, hold.end)
    }
  }

  credit({ account, amount: wanted, reference, note, refunds, allotment, spentTo }: Credit): CreditVerdict {
    const made = this.#lines.get(creditKey(reference))
    if (made !== undefined) {
      const same = made.account === account && (spentTo !== undefined || made.amount === wanted)
      const verdict = {
        outcome: same ? 'already' : 'conflict',
        balance: this.#books.get(account)?.balance ?? 0n,
      } as const
      return spentTo === undefined ? verdict : { ...verdict, amount: made.amount }
    }
    const book = this.#book(account)
    if (allotment !== undefined && !this.lots.write(account, allotment))
      return { outcome: 'changed', balance: book.balance }
    const amount = spentTo === undefined ? wanted : this.lots.taken(account, wanted, spentTo)
    book.balance += amount
    this.lots.credit(account, amount)
    const line = { account, kind: 'credit' as const, reference, amount, overage: 0n }
    if (amount !== 0n) this.#write(creditKey(reference), note === undefined ? line : { ...line, note })
    if (refunds !== undefined && amount > 0n) this.caps.refund(refunds, account, amount)
    return { outcome: 'credited', balance: book.balance, ...(spentTo !== undefined && { amount }) }
  }

  open({ id, name, unlimited }: { id: string; name?: string; unlimited?: boolean }): LedgerAccount {
    const book = this.#book(id)
    if (name !== undefined) book.name = name
    if (unlimited !== undefined) book.unlimited = unlimited
    return this.#account(book)
  }

  account(id: string): LedgerAccount | undefined {
    const book = this.#books.get(id)
    return book && this.#account(book)
  }

  accounts(page: PageRequest): Page<LedgerAccount> {
    const { limit = 100, after = '' } = page
    const ids = [...this.#books.keys()].filter((id) => id > after).sort()
    const found = ids.slice(0, limit + 1).map((id) => this.#account(this.#books.get(id) as Book))
    return pageOf(found, limit, (last) => last.id)
  }

  entries(account: string, page: PageRequest): Page<LedgerEntry> {
    const { limit = 100, after } = page
    const before = after === undefined ? Infinity : Number(readNumberCursor(after))
    const own = this.#entriesOf(account).filter(({ number }) => number < before)
    return pageOf(own.toReversed(), limit, (last) => String(last.number))
  }

  entriesAfter(account: string, after: number, most: number): readonly LedgerEntry[] {
    const own = this.#entriesOf(account).filter(({ number }) => number > after)
    return own.slice(0, most)
  }

  compact(account: string, before: number, most: number): number {
    const book = this.#books.get(account)
    if (book === undefined) return 0
    const old = [...this.#lines].filter(([, line]) => line.account === account && line.kind !== 'credit')
    const replaced = old.slice(0, most).filter(([, { at }]) => at < before)
    for (const [key, line] of replaced) {
      this.#lines.delete(key)
      this.caps.forget(line.reference)
      add(book, line)
      const { amount = 0n, overage = 0n } = book.opening ?? {}
      const sums = { amount: amount + line.amount, overage: overage + line.overage }
      book.opening = { number: line.number, account, kind: 'opening', reference: 'opening', ...sums, at: line.at }
    }
    return replaced.length
  }

  audit(): LedgerAudit {
    return auditOf([...this.#books.values()], this.#lines.values(), (id) => this.account(id) as LedgerAccount)
  }

  /** Oldest first. */
  #entriesOf(account: string): LedgerEntry[] {
    const { opening } = this.#books.get(account) ?? {}
    return [...this.#lines.values(), ...(opening === undefined ? [] : [opening])]
      .filter((line) => line.account === account)
      .sort((left, right) => left.number - right.number)
  }

  #book(id: string): Book {
    let book = this.#books.get(id)
    if (book === undefined) {
      const rest = { name: undefined, balance: 0n, unlimited: false, credits: 0n, settlements: 0n }
      book = { id, createdAt: this.#now(), holds: new Map(), soonest: Infinity, ...rest }
      this.#books.set(id, book)
    }
    return book
  }

  #account(book: Book): LedgerAccount {
    this.#expire(book)
    const { id, balance, unlimited, name, createdAt } = book
    let held = 0n
    for (const hold of book.holds.values()) held += hold.amount
    return { id, balance, held, unlimited, createdAt, ...(name !== undefined && { name }) }
  }

  #open(account: string, { id, amount, leaseMs, draw }: Omit<OpenHold, 'end'> & Pick<Hold, 'id' | 'leaseMs'>) {
    const book = this.#book(account)
    book.balance -= amount
    const end = this.#now() + leaseMs
    book.holds.set(id, { amount, end, draw })
    book.soonest = Math.min(book.soonest, end)
    return { outcome: 'held' as const, balance: book.balance }
  }

  #mustExpire({ balance, holds }: Book, id: string, amount: bigint): boolean {
    const known = holds.get(id)
    return balance < amount || (known !== undefined && known.end <= this.#now())
  }

  /** Records the notices of the levels below which a settlement took the account. */
  #markBalance(book: Book, settlement: Settlement): void {
    const thresholds = settlement.balanceThresholds?.filter(({ at }) => book.balance < at) ?? none
    if (book.unlimited || thresholds.length === 0) return
    const { balance, held } = this.#account(book)
    const left = balance + held
    for (const threshold of thresholds) {
      if (left < threshold.at && left + settlement.amount >= threshold.at) this.caps.note(threshold, settlement, left)
    }
  }

  /** Removes a hold and returns its amount; 0 if there is none. */
  #drop(book: Book, id: string): bigint {
    const held = book.holds.get(id)
    if (held === undefined) return 0n
    book.holds.delete(id)
    if (held.draw !== undefined) this.caps.giveBack(held.draw)
    return held.amount
  }

  #expire(book: Book): void {
    const now = this.#now()
    if (now < book.soonest) return
    book.soonest = Infinity
    for (const [id, { end }] of book.holds) {
      if (end <= now) book.balance += this.#drop(book, id)
      else book.soonest = Math.min(book.soonest, end)
    }
  }

  #write(key: string, { account, kind, reference, amount, overage, note }: Omit<LedgerEntry, 'number' | 'at'>): void {
    const line = { number: ++this.#number, account, kind, reference, amount, overage, at: this.#now() }
    this.#lines.set(key, note === undefined ? line : { ...line, note })
    if (this.#lines.size <= this.#most) return
    this.#oldest ??= this.#lines.entries()
    const [oldest, gone] = this.#oldest.next().value as [string, LedgerEntry]
    this.#lines.delete(oldest)
    this.caps.forget(gone.reference)
    add(this.#books.get(gone.account), gone)
  }
}

/** The id itself, so that the hash of its text is computed once for all maps. */
function holdKey(id: string): string {
  return id.startsWith(' ') ? ` hold${id}` : id
}

function creditKey(reference: string): string {
  return ` credit ${reference}`
}

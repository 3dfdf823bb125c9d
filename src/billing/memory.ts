import { callback, checkKnown, count } from '../validation/known-options.ts'
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
import { pageOf, readNumberCursor } from './page.ts'

/** Options of `memoryLedger`. */
export interface MemoryLedgerOptions {
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /**
   * Maximum number of entries. Older ones are kept only as sums, and their ids are no longer recognised as used. Default
   * 100,000.
   */
  readonly entries?: number
}

/** A ledger in the memory of this process. All balances are lost on restart. */
export function memoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  checkKnown('memoryLedger', options, { clock: callback, entries: count })
  return new MemoryLedger(options.clock ?? Date.now, options.entries ?? 100_000)
}

interface Book {
  readonly id: string
  readonly createdAt: number
  name: string | undefined
  balance: bigint
  unlimited: boolean
  readonly holds: Map<string, { amount: bigint; end: number }>
  /** No hold expires before this time. */
  soonest: number
  /** Sums of the entries that are no longer kept. */
  credits: bigint
  settlements: bigint
}

class MemoryLedger implements Ledger {
  readonly #now: () => number
  readonly #most: number
  readonly #books = new Map<string, Book>()
  /** Entries by the id of the hold or the reference of the credit, oldest first. */
  readonly #lines = new Map<string, LedgerEntry>()
  /** One iterator for all deletions: a new iterator of a Map steps over every deleted entry at its beginning. */
  #oldest: Iterator<[string, LedgerEntry], undefined> | undefined
  #number = 0

  constructor(now: () => number, most: number) {
    this.#now = now
    this.#most = most
  }

  hold({ id, account, amount, leaseMs }: Hold): HoldVerdict {
    const book = this.#books.get(account)
    const balance = book?.balance ?? 0n
    if (this.#lines.has(`hold ${id}`)) return { outcome: 'ended', balance }
    if (book === undefined) return { outcome: 'insufficient', balance }
    const known = book.holds.get(id)
    if (book.balance < amount || (known !== undefined && known.end <= this.#now())) this.#expire(book)
    if (book.holds.has(id)) return { outcome: 'held', balance: book.balance }
    if (book.balance < amount && !book.unlimited) return { outcome: 'insufficient', balance: book.balance }
    book.balance -= amount
    const end = this.#now() + leaseMs
    book.holds.set(id, { amount, end })
    book.soonest = Math.min(book.soonest, end)
    return { outcome: 'held', balance: book.balance }
  }

  settle({ id, account, amount }: Settlement): SettleVerdict {
    const ended = this.#lines.get(`hold ${id}`)
    if (ended !== undefined) {
      const outcome = ended.kind === 'settle' ? 'already' : 'released'
      return { outcome, charged: -ended.amount, overage: ended.overage }
    }
    const book = this.#book(account)
    this.#expire(book)
    const held = this.#drop(book, id)
    const overage = amount > held ? amount - held : 0n
    book.balance += held - amount
    this.#write(`hold ${id}`, { account, kind: 'settle', reference: id, amount: -amount, overage })
    return { outcome: 'settled', charged: amount, overage }
  }

  release({ id, account }: Pick<Hold, 'id' | 'account'>): void {
    if (this.#lines.has(`hold ${id}`)) return
    const book = this.#book(account)
    book.balance += this.#drop(book, id)
    this.#write(`hold ${id}`, { account, kind: 'release', reference: id, amount: 0n, overage: 0n })
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

  credit({ account, amount, reference, note }: Credit): CreditVerdict {
    const made = this.#lines.get(`credit ${reference}`)
    if (made !== undefined) {
      const same = made.account === account && made.amount === amount
      return { outcome: same ? 'already' : 'conflict', balance: this.#books.get(account)?.balance ?? 0n }
    }
    const book = this.#book(account)
    book.balance += amount
    const line = { account, kind: 'credit' as const, reference, amount, overage: 0n }
    this.#write(`credit ${reference}`, note === undefined ? line : { ...line, note })
    return { outcome: 'credited', balance: book.balance }
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
    const own = [...this.#lines.values()].filter((line) => line.account === account && line.number < before)
    return pageOf(own.toReversed(), limit, (last) => String(last.number))
  }

  audit(): LedgerAudit {
    const sums = new Map<string, { credits: bigint; settlements: bigint }>()
    for (const { id, credits, settlements } of this.#books.values()) sums.set(id, { credits, settlements })
    for (const line of this.#lines.values()) add(sums.get(line.account), line)
    let [credits, balances, holds, settlements] = [0n, 0n, 0n, 0n]
    const faults: { account: string; balance: bigint; expected: bigint }[] = []
    for (const book of this.#books.values()) {
      const sum = sums.get(book.id) ?? { credits: 0n, settlements: 0n }
      const { balance, held } = this.#account(book)
      const expected = sum.credits - sum.settlements - held
      if (balance !== expected) faults.push({ account: book.id, balance, expected })
      credits += sum.credits
      settlements += sum.settlements
      balances += balance
      holds += held
    }
    return { accounts: this.#books.size, credits, balances, holds, settlements, faults }
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

  /** Removes a hold and returns its amount; 0 if there is none. */
  #drop(book: Book, id: string): bigint {
    const held = book.holds.get(id)?.amount ?? 0n
    book.holds.delete(id)
    return held
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

  #write(key: string, line: Omit<LedgerEntry, 'number' | 'at'>): void {
    this.#lines.set(key, { ...line, number: ++this.#number, at: this.#now() })
    if (this.#lines.size <= this.#most) return
    this.#oldest ??= this.#lines.entries()
    const [oldest, gone] = this.#oldest.next().value as [string, LedgerEntry]
    this.#lines.delete(oldest)
    add(this.#books.get(gone.account), gone)
  }
}

function add(sum: { credits: bigint; settlements: bigint } | undefined, line: LedgerEntry): void {
  if (sum === undefined) return
  if (line.kind === 'credit') sum.credits += line.amount
  else sum.settlements -= line.amount
}

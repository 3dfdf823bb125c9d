/** The accounts and holds of a batch of calls: locked, read, changed and written back. */
import type { Hold, HoldVerdict, SettleVerdict, Settlement, SliceDraw } from '../index.ts'
import type { CapBooks } from './cap-books.ts'
import type { Ask } from './transaction.ts'
import { insertRows, lockRows, marks, timeOf } from './locks.ts'

interface Account {
  readonly isNew: boolean
  readonly isUnlimited: boolean
  balance: bigint
  /** The sum of the open holds, if thresholds of the balance need it. */
  held: bigint
  isChanged: boolean
}

type Ending = Pick<Hold, 'id' | 'account'> & Partial<Settlement>

export class AccountBooks {
  readonly #ask: Ask
  readonly #caps: CapBooks
  readonly #accounts = new Map<string, Account>()
  readonly #holds = new Map<string, Pick<Hold, 'account' | 'amount'>>()
  /** Slices of which a part has become the hold of a call. */
  readonly #smaller = new Set<string>()
  /** How holds have ended: before, or in this batch. */
  readonly #ended = new Map<string, SettleVerdict>()
  readonly #made = new Map<string, Hold>()
  readonly #gone = new Set<string>()
  readonly #entries: (readonly unknown[])[] = []
  #now = 0

  constructor(ask: Ask, caps: CapBooks) {
    this.#ask = ask
    this.#caps = caps
  }

  /** Locks the accounts, after the buckets. Those of endings and of holds of zero are opened. Returns the time. */
  async lock(holds: readonly Hold[], ends: readonly Ending[]): Promise<number> {
    const opened = new Set([...holds.filter(isFree), ...ends].map(({ account }) => account))
    const ids = [...holds, ...ends].map(({ account }) => account)
    const locked = await lockRows(this.#ask, 'accounts', 'id', ids, (id) => opened.has(id))
    for (const [id, { row, isNew }] of locked) {
      const isUnlimited = row['unlimited'] === '1'
      this.#accounts.set(id, {
        isNew,
        isUnlimited,
        balance: BigInt(row['balance'] as string),
        held: 0n,
        isChanged: false,
      })
    }
    return timeOf(locked)
  }

  /** Reads the holds, and returns expired ones to their accounts. */
  async read(now: number, holds: readonly Hold[], ends: readonly Ending[]): Promise<void> {
    this.#now = now
    const ids = [...holds, ...ends].map(({ id }) => id)
    if (ids.length === 0) return
    const accounts = [...this.#accounts.keys()]
    const expired = `SELECT id, NULL, NULL, NULL FROM @.holds FORCE INDEX (holds_of)
      WHERE account IN (${marks(accounts)}) AND ends <= ?`
    const { rows } = await this.#ask(
      `SELECT reference AS id, kind, amount, overage FROM @.entries WHERE is_credit = 0 AND reference IN (${marks(ids)})
      UNION ALL SELECT id, NULL, NULL, NULL FROM @.holds FORCE INDEX (PRIMARY) WHERE id IN (${marks(ids)})
      ${accounts.length === 0 ? '' : `UNION ALL ${expired}`}`,
      [...ids, ...ids, ...(accounts.length === 0 ? [] : [...accounts, now])],
    )
    for (const row of rows) {
      if (row['kind'] === null) continue
      const [charged, overage] = [-BigInt(row['amount'] as string), BigInt(row['overage'] as string)]
      this.#ended.set(row['id'] as string, {
        outcome: row['kind'] === 'settle' ? 'already' : 'released',
        charged,
        overage,
      })
    }
    await this.#readHolds(rows.filter(({ kind }) => kind === null).map(({ id }) => id as string))
    await this.#readHeld(ends)
  }

  /** Waits for holds that are being renewed. */
  async #readHolds(ids: readonly string[]): Promise<void> {
    for (const [id, { row }] of await lockRows(this.#ask, 'holds', 'id', ids, () => false)) {
      const [account, amount] = [row['account'] as string, BigInt(row['amount'] as string)]
      if (Number(row['ends']) > this.#now || !this.#accounts.has(account)) this.#holds.set(id, { account, amount })
      else {
        this.#change(account, amount)
        this.#gone.add(id)
      }
    }
  }

  /** Adds up the open holds of accounts whose balance may fall below a threshold. */
  async #readHeld(ends: readonly Ending[]): Promise<void> {
    const low = ends.flatMap(({ account, balanceThresholds = [] }) => {
      const { isUnlimited, balance } = this.#account(account)
      const charged = ends.reduce((sum, each) => (each.account === account ? sum + (each.amount ?? 0n) : sum), 0n)
      return !isUnlimited && balanceThresholds.some(({ at }) => balance - charged < at) ? [account] : []
    })
    if (low.length === 0) return
    const { rows } = await this.#ask(
      `SELECT account, sum(amount) AS held FROM @.holds WHERE account IN (${marks(low)}) AND ends > ? GROUP BY account`,
      [...low, this.#now],
    )
    for (const row of rows) this.#account(row['account'] as string).held = BigInt(row['held'] as string)
  }

  hold(wanted: Hold): HoldVerdict {
    const { id, account, amount, caps = [] } = wanted
    const found = this.#accounts.get(account)
    const balance = found?.balance ?? 0n
    if (this.#ended.has(id)) return { outcome: 'ended', balance }
    if (this.#holds.has(id))
      return { outcome: 'held', balance, ...(caps.length > 0 && { caps: this.#caps.statesOf(id, caps) }) }
    if (found === undefined || (balance < amount && !found.isUnlimited && !isFree(wanted)))
      return { outcome: 'insufficient', balance }
    this.#caps.release(id)
    const capped = caps.length === 0 ? undefined : this.#caps.hold(wanted)
    if (capped?.fits === false) return { outcome: 'capped', balance, caps: capped.states }
    this.#make(wanted)
    return { outcome: 'held', balance: found.balance, ...(capped && { caps: capped.states }) }
  }

  /** Whether the hold is made in this batch, not by an earlier call with its id. */
  isMade(id: string): boolean {
    return this.#made.has(id)
  }

  /** Whether the holds of an account succeed whatever its balance. */
  isUnlimited(account: string): boolean {
    return this.#account(account).isUnlimited
  }

  /** Holds for a slice of so many calls, with a call that is held. */
  holdAhead({ amount, tokens = 0n, ...like }: Hold, id: string, count: number): void {
    const calls = BigInt(count)
    const slice = { ...like, id, amount: amount * calls, tokens: tokens * calls }
    this.#make(slice)
    this.#caps.make(slice, calls)
  }

  /** Makes a part of a slice the hold of a call. Returns whether it was not that before, and may become it. */
  moveDraw(draw: SliceDraw): boolean {
    const { slice, hold } = draw
    const own = this.#holds.get(slice)
    if (this.#ended.has(hold.id) || this.#holds.has(hold.id)) return false
    if (own === undefined || own.account !== hold.account || own.amount < hold.amount) return false
    this.#holds.set(slice, { ...own, amount: own.amount - hold.amount })
    this.#smaller.add(slice)
    this.#change(hold.account, hold.amount)
    this.#make(hold)
    this.#caps.moveDraw(draw)
    return true
  }

  /** Returns what is left of a slice. */
  giveBack({ id, account }: Pick<Hold, 'id' | 'account'>): void {
    const own = this.#holds.get(id)
    if (own?.account !== account) return
    this.#change(account, own.amount)
    this.#holds.delete(id)
    this.#smaller.delete(id)
    this.#gone.add(id)
    this.#caps.release(id)
  }

  /** Settles a hold, or releases it if there is no amount. */
  end(ending: Ending): SettleVerdict {
    const { id, account, amount } = ending
    const before = this.#ended.get(id)
    if (before !== undefined) return before
    const open = this.#holds.get(id)
    const held = open?.account === account ? open.amount : 0n
    const charged = amount ?? 0n
    const overage = charged > held ? charged - held : 0n
    if (open?.account === account && !this.#made.delete(id)) this.#gone.add(id)
    const kind = amount === undefined ? 'release' : 'settle'
    this.#entries.push([account, kind, false, id, -charged, overage, this.#now])
    this.#ended.set(id, { outcome: amount === undefined ? 'released' : 'already', charged, overage })
    this.#change(account, held - charged)
    this.#account(account).held -= held
    this.#caps.release(id)
    if (amount !== undefined) {
      this.#caps.settle({ ...ending, amount })
      this.#noteBalance({ ...ending, amount })
    }
    return { outcome: 'settled', charged, overage }
  }

  #noteBalance(settlement: Settlement): void {
    const { isUnlimited, balance, held } = this.#account(settlement.account)
    const left = balance + held
    for (const threshold of isUnlimited ? [] : (settlement.balanceThresholds ?? []))
      if (left < threshold.at && left + settlement.amount >= threshold.at) this.#caps.note(threshold, settlement, left)
  }

  write(): void {
    const gone = [...this.#gone]
    if (gone.length > 0) this.#ask.later(`DELETE FROM @.holds WHERE id IN (${marks(gone)})`, gone)
    for (const id of this.#smaller)
      this.#ask.later('UPDATE @.holds SET amount = ? WHERE id = ?', [this.#holds.get(id)?.amount, id])
    const made = [...this.#made.values()]
    const holds = made.map(({ id, account, amount, leaseMs }) => [id, account, amount, this.#now + leaseMs])
    insertRows(this.#ask, 'holds', ['id', 'account', 'amount', 'ends'], holds)
    const ofEntries = ['account', 'kind', 'is_credit', 'reference', 'amount', 'overage', 'at']
    insertRows(this.#ask, 'entries', ofEntries, this.#entries)
    const changed = [...this.#accounts].filter(([, { isChanged }]) => isChanged)
    const balances = changed.map(([id, { balance }]) => [id, balance])
    insertRows(this.#ask, 'accounts', ['id', 'balance'], balances, ['balance'])
    const unused = [...this.#accounts].filter(([, { isNew, isChanged }]) => isNew && !isChanged).map(([id]) => id)
    if (unused.length > 0) this.#ask.later(`DELETE FROM @.accounts WHERE id IN (${marks(unused)})`, unused)
  }

  #account(id: string): Account {
    return this.#accounts.get(id) as Account
  }

  #make(hold: Hold): void {
    const { id, account, amount } = hold
    this.#holds.set(id, { account, amount })
    this.#made.set(id, hold)
    this.#change(account, -amount)
  }

  #change(account: string, by: bigint): void {
    const own = this.#account(account)
    own.balance += by
    own.isChanged = true
  }
}

/** A hold of zero with caps opens its account, and is never refused for its balance. */
function isFree({ amount, caps = [] }: Hold): boolean {
  return amount === 0n && caps.length > 0
}

import crypto from 'node:crypto'
import { GatewayError } from '../../errors.ts'
import { Rounds } from '../../records/rounds.ts'
import { within } from '../../http/deadline.ts'
import type { LedgerEntry } from '../ledger/contract.ts'
import { changeLots, type AskLedger } from '../lots/credits.ts'
import { lotsOf, type Exported } from '../lots/lots.ts'
import { formatMoney } from '../money.ts'
import type { BillingExport, ExportedEntry, ExportState } from './contract.ts'

/** Milliseconds between two looks at the accounts that were charged lately, and between two looks at all. */
const [everyMs, allMs] = [2_000, 3_600_000]
/** Milliseconds for which an account is looked at after a charge, which the ledger may book later. */
const recentMs = 120_000
/** Milliseconds after which an entry is on the disk of every store. */
const settledMs = 2_000
/** Milliseconds after which a batch that was refused is sent again. */
const againMs = 5_000
/** Entries in a batch, and entries of an account that are kept in memory. */
const [mostSent, mostRead] = [1_000, 20_000]

export interface ExporterOptions {
  readonly ask: AskLedger
  readonly sink: BillingExport
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly failed: (account: string, error: unknown) => void
}

/**
 * Sends the entries of the ledger to a sink. How far an account was exported is stored with the account: before a batch is sent, up
 * to which entry it goes, so that it is the same when it is repeated; afterwards, that it was sent. One process sends at a time.
 */
export class Exporter {
  readonly #options: ExporterOptions
  readonly #name: string
  readonly #timeoutMs: number
  readonly #rounds: Rounds
  /** Accounts to look at, and until when. */
  readonly #recent = new Map<string, number>()
  /** Accounts whose batch was refused and comes again. */
  readonly #refused = new Set<string>()
  #times: Omit<ExportState, 'waiting'> = {}
  #allAt = 0
  #closed = false
  #round: Promise<boolean> | undefined

  constructor(options: ExporterOptions) {
    this.#options = options
    const { name = 'export', timeoutMs = 10_000 } = options.sink
    this.#name = name
    this.#timeoutMs = timeoutMs
    this.#rounds = new Rounds({ everyMs, round: () => (this.#round = this.#export()) })
    this.#rounds.wake()
  }

  /** To be called when an account is charged. */
  use(account: string): void {
    this.#recent.set(account, this.#options.now() + recentMs)
    this.#rounds.wake()
  }

  get state(): ExportState {
    return { waiting: this.#refused.size, ...this.#times }
  }

  /** Stops after the batch that is being sent. */
  async close(): Promise<void> {
    this.#closed = true
    this.#rounds.stop()
    await this.#round
  }

  /** Whether there was anything to send. */
  async #export(): Promise<boolean> {
    const now = this.#options.now()
    let sent = 0
    try {
      // If the clock was set back, the next look would be too late.
      if (now >= this.#allAt || this.#allAt - now > allMs) await this.#readAll()
    } catch {
      // The ledger is down.
    }
    for (const [account, until] of this.#recent) {
      try {
        while (!this.#closed && (await this.#batch(account))) sent++
        if (until < now) this.#recent.delete(account)
      } catch (error) {
        // Comes again, and keeps no other account from its turn. The guard reports what fails in the ledger.
        if (!GatewayError.is(error)) this.#options.failed(account, error)
      }
    }
    return sent > 0
  }

  /** Entries of processes that are gone may wait in any account. */
  async #readAll(): Promise<void> {
    const { ask, now } = this.#options
    const until = now() + recentMs
    for (let after: string | undefined; !this.#closed;) {
      const page = { limit: 1_000, ...(after !== undefined && { after }) }
      const found = await ask((ledger) => ledger.accounts?.(page) ?? { items: [] })
      for (const { id } of found.items) this.#recent.set(id, Math.max(until, this.#recent.get(id) ?? 0))
      after = found.next
      if (after === undefined) break
    }
    this.#allAt = now() + allMs
  }

  /** Sends the next batch of an account. Returns whether it did. */
  async #batch(account: string): Promise<boolean> {
    const { ask, sink, now, failed } = this.#options
    const state = await ask((ledger) => ledger.lots.read(account))
    const known = state && (lotsOf(state).exported?.[this.#name] ?? { done: 0 })
    if (known === undefined || (known.until ?? 0) > now()) return false
    const entries = await this.#after(account, known)
    const last = entries.at(-1)
    if (last === undefined) {
      // Another process has sent it.
      this.#refused.delete(account)
      return false
    }
    const { done } = known
    const claim = { done, to: last.number, until: now() + 2 * this.#timeoutMs }
    const isFree = ({ done: at, to, until = 0 }: Exported) => at === done && to === known.to && until <= now()
    if (!(await this.#write(account, claim, isFree))) return false
    const isOurs = (before: Exported) => before.done === done && before.until === claim.until
    const id = crypto.hash('sha256', JSON.stringify([this.#name, account, done, last.number]), 'base64url')
    try {
      const sending = async () => sink.send({ id, account, entries })
      await within(this.#timeoutMs, sending(), 'billing.export.send()')
    } catch (error) {
      failed(account, error)
      this.#refused.add(account)
      this.#times = { ...this.#times, refusedAt: now() }
      this.use(account)
      await this.#write(account, { ...claim, until: now() + againMs }, isOurs)
      return false
    }
    this.#refused.delete(account)
    this.#times = { ...this.#times, sentAt: now() }
    await this.#write(account, { done: last.number }, (before) => before.done === done)
    return true
  }

  /** The entries after those that were exported, up to those of a batch that was begun. */
  async #after(account: string, { done, to = Infinity }: Exported): Promise<ExportedEntry[]> {
    const { ask, sink, now } = this.#options
    const found: LedgerEntry[] = []
    for (let after: string | undefined; ;) {
      const page = { limit: 1_000, ...(after !== undefined && { after }) }
      const { items, next } = await ask((ledger) => ledger.entries?.(account, page) ?? { items: [] })
      found.push(...items.filter(({ number, at }) => number > done && at >= sink.since))
      if (found.length > mostRead) found.splice(0, found.length - mostRead)
      after = next
      if (after === undefined || items.some(({ number, at }) => number <= done || at < sink.since)) break
    }
    const oldestFirst = found.toReversed()
    const fresh = oldestFirst.findIndex(({ at }) => at > now() - settledMs)
    const some = fresh < 0 || to !== Infinity ? oldestFirst : oldestFirst.slice(0, fresh)
    return some
      .filter(({ number, kind }) => number <= to && (kind === 'settle' || kind === 'credit'))
      .slice(0, mostSent)
      .map(({ number, kind, reference, amount, at }) => ({
        number,
        kind: kind as ExportedEntry['kind'],
        reference,
        amount: formatMoney(amount),
        at,
      }))
  }

  #write(account: string, exported: Exported, mayChange: (before: Exported) => boolean): Promise<boolean> {
    return changeLots(this.#options.ask, account, (lots) => {
      const before = lots.exported?.[this.#name] ?? { done: 0 }
      return mayChange(before) ? { ...lots, exported: { ...lots.exported, [this.#name]: exported } } : undefined
    })
  }
}

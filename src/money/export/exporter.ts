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
/** Entries that are read at once, and so the most in a batch. */
const mostRead = 1_000

/** Whether a time is still to come. What is further ahead is of a clock that was set back since. */
function isAhead(time: number, now: number, mostMs: number = allMs): boolean {
  return time > now && time - now <= mostMs
}

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
      if (!isAhead(this.#allAt, now)) await this.#readAll()
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
    const isFree = ({ until = 0 }: Exported) => !isAhead(until, now(), allMs + 2 * this.#timeoutMs)
    if (known === undefined || !isFree(known)) return false
    const found = await this.#after(account, known)
    const { done, to = found.at(-1)?.number } = known
    const isSame = (each: Exported) => each.done === done && each.to === known.to && isFree(each)
    const entries = found.flatMap((entry) => (entry.at >= sink.since ? exportedOf(entry) : []))
    if (to === undefined || entries.length === 0) {
      // Another process has sent it, or it was compacted.
      this.#refused.delete(account)
      const isPassed = to !== undefined && (to === known.to || found.length === mostRead)
      return isPassed && this.#write(account, { done: to }, isSame)
    }
    const claim = { done, to, until: now() + 2 * this.#timeoutMs }
    if (!(await this.#write(account, claim, isSame))) return false
    const isOurs = (before: Exported) => before.done === done && before.until === claim.until
    const id = crypto.hash('sha256', JSON.stringify([this.#name, account, done, to]), 'base64url')
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
    await this.#write(account, { done: to }, (before) => before.done === done)
    return true
  }

  /** The entries after those that were exported, up to those of a batch that was begun. */
  async #after(account: string, { done, to }: Exported): Promise<readonly LedgerEntry[]> {
    const { ask, now } = this.#options
    const found = await ask((ledger) => ledger.entriesAfter?.(account, done, mostRead) ?? [])
    const isLater = ({ number, at }: LedgerEntry) => (to === undefined ? isAhead(at + settledMs, now()) : number > to)
    const end = found.findIndex(isLater)
    return end < 0 ? found : found.slice(0, end)
  }

  #write(account: string, exported: Exported, mayChange: (before: Exported) => boolean): Promise<boolean> {
    return changeLots(this.#options.ask, account, (lots) => {
      const before = lots.exported?.[this.#name] ?? { done: 0 }
      return mayChange(before) ? { ...lots, exported: { ...lots.exported, [this.#name]: exported } } : undefined
    })
  }
}

function exportedOf({ number, kind, reference, amount, at }: LedgerEntry): ExportedEntry[] {
  return kind === 'settle' || kind === 'credit' ? [{ number, kind, reference, amount: formatMoney(amount), at }] : []
}

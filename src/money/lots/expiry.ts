import type { LotState } from './contract.ts'
import { ignore } from '../../http/ignore.ts'
import { expire, type AskLedger } from './credits.ts'
import { lotsOf } from './lots.ts'

/** Milliseconds between two looks for credits that have expired, while calls are charged. */
const everyMs = 30_000
/** Accounts of one look. */
const most = 1_000
/** Milliseconds for which it is remembered that nothing of an account has expired, and of how many accounts. */
const [knownMs, mostKnown] = [5_000, 10_000]

export interface ExpiryOptions {
  readonly ask: AskLedger
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Takes credits back that have expired, and makes those of allowances. No timer runs: an idle process does nothing. */
export class CreditExpiry {
  readonly #options: ExpiryOptions
  /** By account: until when nothing expires. */
  readonly #quiet = new Map<string, number>()
  #dueAt = 0
  #round: Promise<void> | undefined

  constructor(options: ExpiryOptions) {
    this.#options = options
  }

  /** To be called when money was spent: looks for what has expired, if the last look was a while ago. */
  use(): void {
    const now = this.#options.now()
    if (isAhead(this.#dueAt, now, everyMs) || this.#round !== undefined) return
    this.#dueAt = now + everyMs
    this.#round = this.#look(now).finally(() => (this.#round = undefined))
  }

  /** Whether an account may have more money now, because a period of its allowance has begun. Never rejects. */
  async renews(account: string): Promise<boolean> {
    const { ask, now } = this.#options
    const at = now()
    if (isAhead(this.#quiet.get(account) ?? 0, at, knownMs)) return false
    try {
      const state: LotState | undefined = await ask((ledger) => ledger.lots.read(account))
      const next = state && lotsOf(state).lots[0]?.expiresAt
      if (next !== undefined && next <= at) {
        await expire(ask, account, at)
        return true
      }
      if (this.#quiet.size >= mostKnown) this.#quiet.clear()
      this.#quiet.set(account, Math.min(next ?? Infinity, at + knownMs))
    } catch {
      // The ledger is down, and says so where the call needs it.
    }
    return false
  }

  /** Resolves when no look is under way. */
  async close(): Promise<void> {
    await this.#round
  }

  async #look(now: number): Promise<void> {
    const { ask } = this.#options
    const due = await ask((ledger) => ledger.lots.due(now, most)).catch(() => [])
    // What fails stays due, and keeps no other account from its turn.
    for (const account of due) await expire(ask, account, now).catch(ignore)
  }
}

/** Whether a time is in the next `ms` milliseconds. One further ahead is from before the clock was set back. */
function isAhead(time: number, now: number, ms: number): boolean {
  return time > now && time - now <= ms
}

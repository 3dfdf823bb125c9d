/** No call is refused without a reason. */
import type { Hold, HoldVerdict } from '../../src/money/ledger/contract.ts'
import type { Request } from './request.ts'
import type { Machine } from './scheduler.ts'
import { promptMs, type Seen } from './seen.ts'

interface Ended {
  readonly request: Request
  readonly held: bigint
}

export class Refusals {
  readonly #seen: Seen
  /** Of a call whose hold was refused last: what it lacked, and the holds of calls that had ended. */
  readonly #lacking = new Map<string, { readonly missing: bigint; readonly ended: readonly Ended[] }>()

  constructor(seen: Seen) {
    this.#seen = seen
  }

  /** The store has answered to a hold. */
  held({ id, account, amount }: Hold, verdict: HoldVerdict | undefined): void {
    this.#lacking.delete(id)
    if (verdict?.outcome !== 'insufficient') return
    const { ledger } = this.#seen.traces
    const ended = [...ledger.holds].flatMap(([hold, { account: payer, amounts }]) => {
      const request = this.#seen.requests.get(hold)
      return payer === account && request?.endedAt !== undefined ? { request, held: amounts.money } : []
    })
    this.#lacking.set(id, { missing: amount - ledger.balance(account), ended })
  }

  /**
   * Whether a process may refuse without asking: a rate is used up, but for what calls and slices are giving back; the process
   * counts alone while the store is down; or it cannot know that the rate was refilled.
   */
  mayRefuse(machine: Machine, account: string): boolean {
    const seen = this.#seen
    const isAlone = seen.plan.whenDown === 'local' && seen.hasFailed(machine, 60_000)
    const isUsedUp = seen.traces.limits.isDrained(account, seen.plan.isAmple ? 8.5 : 2.5, seen.time)
    return isUsedUp || isAlone || seen.hasJumped(seen.scheduler.now)
  }

  /** A client was refused with 429. `mayBeShared`: it may have waited for another request with its key, and got its answer. */
  limited(id: string, code: string, mayBeLocal: boolean, mayBeShared: boolean, sentAt: number): void {
    if (code === 'insufficient_quota' && !mayBeShared) this.#lackedBefore(id, sentAt)
    const { refusals } = this.#seen.traces
    const why = mayBeShared ? new Set([...refusals.values()].flatMap((each) => [...each])) : refusals.get(id)
    const isJust =
      code === 'insufficient_quota'
        ? why?.has('insufficient') === true || why?.has('capped') === true
        : why?.has('limited') === true || mayBeLocal
    if (!isJust) this.#seen.violate('no false refusal', `${id} was refused with ${code}, and no store has refused it`)
  }

  /** What had ended before a call was sent, whichever process it ended in, is there for it. */
  #lackedBefore(id: string, sentAt: number): void {
    const { missing, ended } = this.#lacking.get(id) ?? { missing: 1n, ended: [] }
    const back = ended.reduce((sum, { request: { endedAt = Infinity, machine, cost = 0n }, held }) => {
      return endedAt < sentAt && this.#seen.isHealthy(machine, promptMs) ? sum + held - cost : sum
    }, 0n)
    if (back > 0n && back >= missing)
      this.#seen.violate('no false refusal', `${id} was refused for what ended calls held`)
  }
}

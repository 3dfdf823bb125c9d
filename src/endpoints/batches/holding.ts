/** The holds of a batch that is made: each request has one, and all are released if one does not fit. */
import type { Demand } from '../../admission/demand.ts'
import type { HoldVerdict } from '../../money/ledger/contract.ts'
import { countedCaps } from '../videos/caps.ts'
import { mapConcurrently } from '../concurrency.ts'
import type { BatchLine, BatchTask } from './batch-task.ts'

interface Holder {
  readonly hold: (demand: Demand) => Promise<HoldVerdict | undefined>
  readonly release: (ids: readonly string[]) => Promise<void>
}

/** Holds at the same time: stores join them into few statements. */
const atOnce = 64

const never = new AbortController().signal

export class Holding {
  readonly #holder: Holder
  readonly #asked: string[] = []
  readonly #counted: string[] = []

  constructor(holder: Holder) {
    this.#holder = holder
  }

  /** The caps that count the requests so far. */
  get counted(): BatchTask['counted'] {
    return this.#counted.map((caps) => JSON.parse(caps) as BatchTask['counted'][number])
  }

  /** Holds the most that some requests can cost. Rejects with the refusal of the first that does not fit. */
  add(lines: readonly BatchLine[], demands: readonly Demand[]): Promise<BatchLine[]> {
    return mapConcurrently(lines, atOnce, never, async (line, index) => {
      const demand = demands[index] as Demand
      if (demand.hold !== undefined) this.#asked.push(demand.hold.id)
      const verdict = await this.#holder.hold(demand)
      if (verdict?.caps === undefined) return line
      const caps = JSON.stringify(countedCaps(verdict.caps))
      if (!this.#counted.includes(caps)) this.#counted.push(caps)
      return { ...line, caps: this.#counted.indexOf(caps) }
    })
  }

  /** Ends all. Those that are still being asked for, too: a hold that arrives after its release has no effect. */
  release(): Promise<void> {
    return this.#holder.release(this.#asked)
  }
}

import type { Allotment, LedgerLots, LotState } from '../lots/contract.ts'
import { takenOf } from '../lots/lots.ts'
import type { LedgerAccount } from './contract.ts'

interface Stored {
  credited: bigint
  version: number
  lots?: string
  due?: number | undefined
}

/** Money that expires, in a memory ledger. */
export class MemoryLots implements LedgerLots {
  readonly #account: (id: string) => LedgerAccount | undefined
  readonly #stored = new Map<string, Stored>()

  constructor(account: (id: string) => LedgerAccount | undefined) {
    this.#account = account
  }

  read(id: string): LotState | undefined {
    const account = this.#account(id)
    if (account === undefined) return undefined
    const { balance, held } = account
    const { credited, version, lots } = this.#of(id)
    return { balance, held, settled: credited - balance - held, version, ...(lots !== undefined && { lots }) }
  }

  write(id: string, { was, lots, due }: Allotment): boolean {
    const stored = this.#of(id)
    if (stored.version !== was || this.#account(id) === undefined) return false
    this.#stored.set(id, { ...stored, lots, due, version: was + 1 })
    return true
  }

  due(before: number, limit: number): string[] {
    const due = [...this.#stored].flatMap(([id, { due: at = Infinity }]) => (at <= before ? [{ id, at }] : []))
    return due
      .sort((left, right) => left.at - right.at)
      .slice(0, limit)
      .map(({ id }) => id)
  }

  /** Counts a credit. */
  credit(id: string, amount: bigint): void {
    const stored = this.#of(id)
    this.#stored.set(id, { ...stored, credited: stored.credited + amount })
  }

  /** What a credit with `spentTo` books. */
  taken(id: string, amount: bigint, spentTo: bigint): bigint {
    return takenOf(this.read(id) as LotState, amount, spentTo)
  }

  #of(id: string): Stored {
    return this.#stored.get(id) ?? { credited: 0n, version: 0 }
  }
}

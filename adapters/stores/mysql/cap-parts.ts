/** What holds and slices count in caps: read, changed and written back. */
import { slicePrefix, type CapAmounts, type SliceDraw } from '../index.ts'
import type { TableRow } from '../sql/sql.ts'
import { amountsOf } from './cap-uses.ts'
import { insertRows, marks } from './locks.ts'
import type { Ask } from './transaction.ts'

/** What a hold counts in a period of a cap. */
export interface Part extends CapAmounts {
  readonly cap: string
  readonly start: number
}

export class CapParts {
  readonly #holds = new Map<string, readonly Part[]>()
  readonly #changed = new Set<string>()
  readonly #gone = new Set<string>()

  /** Reads what holds count, in place of what was read before. */
  async read(ask: Ask, holds: readonly string[]): Promise<void> {
    if (holds.length === 0) return
    const { rows } = await ask(`SELECT * FROM @.cap_holds WHERE hold IN (${marks(holds)})`, holds)
    this.#holds.clear()
    for (const row of rows) {
      const hold = row['hold'] as string
      this.#holds.set(hold, [...this.of(hold), partOf(row)])
    }
  }

  all(): readonly Part[] {
    return [...this.#holds.values()].flat()
  }

  caps(): readonly string[] {
    return this.all().map(({ cap }) => cap)
  }

  of(hold: string): readonly Part[] {
    return this.#holds.get(hold) ?? []
  }

  put(hold: string, parts: readonly Part[]): void {
    this.#holds.set(hold, parts)
    this.#changed.add(hold)
  }

  /** Moves what a call counts from the slice that has admitted it to its own hold. */
  moveDraw({ slice, hold: { id, amount: money, tokens = 0n } }: SliceDraw): void {
    const [from, calls] = [this.of(slice), 1n]
    const left = from.map((part) => ({
      ...part,
      money: part.money - money,
      tokens: part.tokens - tokens,
      calls: part.calls - calls,
    }))
    const moved = from.map((part) => ({ ...part, money, tokens, calls }))
    this.put(slice, left)
    this.put(id, moved)
  }

  /** A hold counts in a cap no longer: its lease has expired. */
  expire(ask: Ask, hold: string, cap: string): void {
    ask.later('DELETE FROM @.cap_holds WHERE hold = ? AND cap = ?', [hold, cap])
    if (this.#holds.has(hold))
      this.#holds.set(
        hold,
        this.of(hold).filter((part) => part.cap !== cap),
      )
  }

  delete(hold: string): void {
    if (this.#holds.delete(hold)) this.#gone.add(hold)
    this.#changed.delete(hold)
  }

  write(ask: Ask): void {
    const gone = [...this.#gone]
    if (gone.length > 0) ask.later(`DELETE FROM @.cap_holds WHERE hold IN (${marks(gone)})`, gone)
    const rows = [...this.#changed].flatMap((hold) =>
      this.of(hold).map(({ cap, start, money, tokens, calls }) => [hold, cap, start, money, tokens, calls]),
    )
    const amounts = ['money', 'tokens', 'calls']
    insertRows(ask, 'cap_holds', ['hold', 'cap', 'start', ...amounts], rows, amounts)
  }
}

/** What slices count in caps. */
export async function partsOfSlices(ask: Ask, caps: readonly string[]): Promise<readonly Part[]> {
  if (caps.length === 0) return []
  // Without the hint, the server may prefer to read all slices, or all holds of the caps.
  const text = `SELECT * FROM @.cap_holds FORCE INDEX (cap_holds_of) WHERE cap IN (${marks(caps)}) AND hold LIKE ?`
  return (await ask(text, [...caps, `${slicePrefix}%`])).rows.map(partOf)
}

export function partOf(row: TableRow): Part {
  return { cap: row['cap'] as string, start: Number(row['start']), ...amountsOf(row) }
}

/** What is counted per cap and period: read, changed and written back. */
import type { CapAmounts, CapPeriod } from '../index.ts'
import type { TableRow } from '../sql/sql.ts'
import type { Ask } from './transaction.ts'
import { insertRows } from './locks.ts'

type Amounts = Record<keyof CapAmounts, bigint>

interface Use {
  readonly ends: number
  readonly settled: Amounts
  readonly held: Amounts
  isChanged: boolean
}

const columns = ['ends', 'money', 'tokens', 'calls', 'held_money', 'held_tokens', 'held_calls']

export class CapUses {
  readonly #caps = new Map<string, Map<number, Use>>()

  add(row: TableRow): void {
    const [settled, held] = [amountsOf(row), amountsOf(row, 'held_')]
    const use = { ends: Number(row['ends']), settled, held, isChanged: false }
    this.#put(row['cap'] as string, Number(row['start']), use)
  }

  of(cap: string, start: number): Use | undefined {
    return this.#caps.get(cap)?.get(start)
  }

  /** The use of a period, which is about to change. `ends`: when it counts no longer. */
  changed(cap: string, start: number, ends: number): Use {
    const use = this.of(cap, start) ?? this.#put(cap, start, { ends, settled: sum([]), held: sum([]), isChanged: true })
    use.isChanged = true
    return use
  }

  /** The sums of the periods that count in a period, and when the first one of them with use counts no longer. */
  sums(period: CapPeriod): { first: number | undefined; settled: CapAmounts; held: CapAmounts } {
    const counted = [...(this.#caps.get(capOf(period)) ?? [])].filter(([start]) => countsIn(period, start))
    const uses = counted.map(([, use]) => use)
    const ends = uses.filter(isUsed).map((use) => use.ends)
    return {
      first: ends.length === 0 ? undefined : Math.min(...ends),
      settled: sum(uses.map(({ settled }) => settled)),
      held: sum(uses.map(({ held }) => held)),
    }
  }

  write(ask: Ask): void {
    const rows = [...this.#caps].flatMap(([cap, periods]) =>
      [...periods].flatMap(([start, { ends, settled, held, isChanged }]) => {
        const amounts = [settled, held].flatMap(({ money, tokens, calls }) => [money, tokens, calls])
        return isChanged ? [[cap, start, ends, ...amounts]] : []
      }),
    )
    insertRows(ask, 'cap_use', ['cap', 'start', ...columns], rows, columns)
  }

  #put(cap: string, start: number, use: Use): Use {
    const periods = this.#caps.get(cap) ?? new Map<number, Use>()
    this.#caps.set(cap, periods.set(start, use))
    return use
  }
}

/** Whether the use of the period that begins at `start` counts in a period. */
export function countsIn(period: CapPeriod, start: number): boolean {
  return start >= period.start - period.rollingMs && start <= period.start
}

/** The amounts in the columns of a row whose names begin with `prefix`. */
export function amountsOf(row: TableRow, prefix: string = ''): Amounts {
  return {
    money: BigInt(row[`${prefix}money`] as string),
    tokens: BigInt(row[`${prefix}tokens`] as string),
    calls: BigInt(row[`${prefix}calls`] as string),
  }
}

/** The key of a cap: its name and its window, which contain no NUL. */
export function capOf({ name, window }: Pick<CapPeriod, 'name' | 'window'>): string {
  return `${name}\0${window}`
}

function sum(all: readonly CapAmounts[]): Amounts {
  const total = { money: 0n, tokens: 0n, calls: 0n }
  for (const { money, tokens, calls } of all) {
    total.money += money
    total.tokens += tokens
    total.calls += calls
  }
  return total
}

function isUsed({ settled, held }: Use): boolean {
  return [settled, held].some(({ money, tokens, calls }) => money !== 0n || tokens !== 0n || calls !== 0n)
}

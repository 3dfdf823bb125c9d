/** A backlog is read once, however many batches it makes: each begins where the last one ended. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryLedger, type Ledger } from '../../../src/index.ts'
import { Exporter } from '../../../src/money/export/exporter.ts'
import type { LedgerEntry } from '../../../src/money/ledger/contract.ts'
import type { AskLedger } from '../../../src/money/lots/credits.ts'
import { everyBundle } from '../../every-bundle.ts'

/** Several batches, the last of which is not full. */
const charges = 3_300
/** The first of them were charged before exports began. */
const earlier = 1_200
/** Entries in a batch. */
const most = 1_000

/** A ledger, and how many entries were read of it. */
function counting(ledger: Ledger) {
  const read = { entries: 0, most: 0 }
  const counted = (found: readonly LedgerEntry[]) => {
    read.entries += found.length
    read.most = Math.max(read.most, found.length)
  }
  const get = (target: Ledger, name: keyof Ledger) => {
    const value: unknown = target[name]
    if (name !== 'entries' && name !== 'entriesAfter')
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    return async (...given: [never, never, never]) => {
      const found = await target[name]?.(...given)
      counted((found && 'items' in found ? found.items : found) ?? [])
      return found
    }
  }
  return { read, counted: new Proxy(ledger, { get: get as never }) }
}

const stores = everyBundle().map(([kind, available, open]) => ({
  kind,
  available,
  open: async () => (await open()).ledger,
}))
const memory = { kind: 'memory', available: true, open: memoryLedger }

describe.each([memory, ...stores])('$kind', ({ available, open }) => {
  test.runIf(available)('exports a backlog with one reading of each entry', { timeout: 60_000 }, async () => {
    const ledger = await open()
    const account = 'backlog'
    await ledger.credit({ account, amount: 10n, reference: 'start' })
    const charge = async (from: number, to: number) => {
      for (let id = from; id < to; id += 100)
        await Promise.all(
          Array.from({ length: 100 }, async (_, index) =>
            ledger.settle({ id: `charge ${id + index}`, account, amount: 1n }),
          ),
        )
    }
    await charge(0, earlier)
    const [newest] = (await ledger.entries?.(account, { limit: 1 }))?.items ?? []
    const since = (newest?.at ?? 0) + 1
    await vi.waitUntil(() => Date.now() > since)
    await charge(earlier, earlier + charges)
    await ledger.release({ id: 'nothing', account })

    const { read, counted } = counting(ledger)
    const ask: AskLedger = async (question) => question(counted as never)
    const found: { number: number; reference: string }[] = []
    const done = Promise.withResolvers<void>()
    const exporter = new Exporter({
      ask,
      sink: {
        send({ entries }) {
          found.push(...entries)
          if (found.length === charges) done.resolve()
        },
        since,
      },
      now: () => Date.now() + 10_000,
      failed: (_account, error) => done.reject(error),
    })
    onTestFinished(() => exporter.close())
    await done.promise
    await exporter.close()

    const references = Array.from({ length: charges }, (_each, index) => `charge ${earlier + index}`)
    expect(found.map(({ reference }) => reference).toSorted()).toEqual(references.toSorted())
    expect(found).toEqual(found.toSorted((left, right) => left.number - right.number))
    expect(read.most).toBe(most)
    expect(read.entries).toBeLessThanOrEqual(1 + earlier + charges + most)
  })
})

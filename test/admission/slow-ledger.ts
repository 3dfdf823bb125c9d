import { memoryLedger, type Ledger } from '../../src/index.ts'

/** A ledger whose settlements wait until the test calls `open`. */
interface SlowLedger {
  readonly ledger: Ledger
  /** What it has stored. */
  readonly memory: Ledger
  readonly open: () => void
  readonly pass: (ms: number) => void
}

/** The account `acme` has 1,000,000. */
export async function slowLedger(): Promise<SlowLedger> {
  let now = Date.now()
  const memory = memoryLedger({ clock: () => now })
  await memory.credit({ account: 'acme', amount: 1_000_000n, reference: 'start' })
  const gate = Promise.withResolvers<void>()
  const ledger: Ledger = {
    hold: (hold) => memory.hold(hold),
    settle: async (settlement) => {
      await gate.promise
      return memory.settle(settlement)
    },
    release: (hold) => memory.release(hold),
    renew: (holds, leaseMs) => memory.renew(holds, leaseMs),
    credit: (credit) => memory.credit(credit),
    open: (account) => memory.open(account),
    account: (id) => memory.account(id),
    audit: () => memory.audit(),
  }
  return { ledger, memory, open: () => gate.resolve(), pass: (ms: number) => void (now += ms) }
}

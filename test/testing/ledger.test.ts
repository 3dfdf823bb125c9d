import { describe } from 'vitest'
import type { LedgerAccount, Ledger, Settlement } from '../../src/billing/contract.ts'
import { memoryLedger } from '../../src/billing/memory.ts'
import { testLedger } from '../../src/testing/ledger.ts'
import { plant, turn, type Fault } from './faults.ts'

let now = 1_900_000_000_000
const wait = (ms: number) => void (now += ms)
const good = () => memoryLedger({ now: () => now })

const faults: Fault<Ledger>[] = [
  [
    'hold looks at the balance, waits and then takes',
    (ledger) => ({
      async hold(hold) {
        const found = await ledger.account(hold.account)
        await turn()
        const enough = found !== undefined && (found.unlimited || found.balance >= hold.amount)
        if (!enough) return ledger.hold(hold)
        await ledger.open({ id: hold.account, unlimited: true })
        const verdict = await ledger.hold(hold)
        await ledger.open({ id: hold.account, unlimited: found.unlimited })
        return verdict
      },
    }),
    'lets many spenders through for exactly as much as there is',
  ],
  [
    'hold takes again for an id that it knows',
    (ledger) => {
      let made = 0
      return { hold: (hold) => ledger.hold({ ...hold, id: `${hold.id} ${++made}` }) }
    },
    'holds once for an id',
  ],
  [
    'hold wants one unit more than it takes',
    (ledger) => ({
      async hold(hold) {
        const found = await ledger.account(hold.account)
        const short = found !== undefined && !found.unlimited && found.balance < hold.amount + 1n
        return short ? { outcome: 'insufficient', balance: found.balance } : ledger.hold(hold)
      },
    }),
    'holds what the balance covers, to the last unit',
  ],
  [
    'hold opens an account that it does not know, and trusts it',
    (ledger) => ({
      async hold(hold) {
        const found = await ledger.account(hold.account)
        if (found === undefined) await ledger.open({ id: hold.account, unlimited: true })
        return ledger.hold(hold)
      },
    }),
    'holds nothing for an account it does not know',
  ],
  [
    'balances are counted as floating-point numbers',
    (ledger) => ({
      async account(id) {
        const found = await ledger.account(id)
        return found && { ...found, balance: BigInt(Number(found.balance)) }
      },
    }),
    'adds up amounts beyond 2^53',
  ],
  [
    'hold forgets that an id has ended',
    (ledger) => ({
      async hold(hold) {
        const verdict = await ledger.hold(hold)
        return verdict.outcome === 'ended' ? ledger.hold({ ...hold, id: `${hold.id} again` }) : verdict
      },
    }),
    'finds a hold ended whose end has overtaken it',
  ],
  [
    'settle charges again when it is repeated',
    (ledger) => {
      let made = 0
      return {
        async settle(settlement) {
          const verdict = await ledger.settle(settlement)
          return verdict.outcome === 'already'
            ? ledger.settle({ ...settlement, id: `${settlement.id} ${++made}` })
            : verdict
        },
      }
    },
    'settles once for an id',
  ],
  [
    'settle tells a repetition what it asked for instead of what was charged',
    (ledger) => ({
      async settle(settlement) {
        const verdict = await ledger.settle(settlement)
        return verdict.outcome === 'already' ? { ...verdict, charged: settlement.amount } : verdict
      },
    }),
    'whoever comes later is told what was charged',
  ],
  [
    'settle charges no more than was held',
    (ledger) => ({ settle: async (settlement) => settleWithin(ledger, settlement) }),
    'settles for more than was held in full',
  ],
  [
    'settle keeps the rest of the hold',
    (ledger) => ({
      async settle(settlement) {
        const before = (await ledger.account(settlement.account))?.held ?? 0n
        const verdict = await ledger.settle(settlement)
        const after = (await ledger.account(settlement.account))?.held ?? 0n
        const rest = before - after - settlement.amount
        if (verdict.outcome === 'settled' && rest > 0n) {
          await ledger.hold({ id: `${settlement.id} rest`, account: settlement.account, amount: rest, leaseMs: 1e9 })
        }
        return verdict
      },
    }),
    'gives back the rest',
  ],
  [
    'settle ignores a hold that it does not know',
    (ledger) => ({
      async settle(settlement) {
        const { held = 0n } = (await ledger.account(settlement.account)) ?? {}
        if (held === 0n) return { outcome: 'released', charged: 0n, overage: 0n }
        return ledger.settle(settlement)
      },
    }),
    'charges a call in full whose hold it does not know',
  ],
  [
    'settle charges what was released',
    (ledger) => ({
      async settle(settlement) {
        const verdict = await ledger.settle(settlement)
        return verdict.outcome === 'released'
          ? ledger.settle({ ...settlement, id: `${settlement.id} anyway` })
          : verdict
      },
    }),
    'does not settle what was released',
  ],
  [
    'release credits what it is told instead of what is held',
    (ledger) => {
      const amounts = new Map<string, bigint>()
      let made = 0
      return {
        hold: (hold) => (amounts.set(hold.id, hold.amount), ledger.hold(hold)),
        async release({ id, account }) {
          await ledger.settle({ id, account, amount: amounts.get(id) ?? 0n })
          await ledger.credit({ account, amount: amounts.get(id) ?? 1n, reference: `refund ${++made}` })
        },
      }
    },
    'releases a hold once',
  ],
  [
    'a hold has no lease',
    (ledger) => ({ hold: (hold) => ledger.hold({ ...hold, leaseMs: 1e12 }) }),
    'gives a hold back when its lease has run out',
  ],
  ['renew does nothing', () => ({ renew: () => undefined }), 'keeps a hold that is renewed'],
  [
    'renew revives what is over',
    (ledger) => {
      const amounts = new Map<string, bigint>()
      return {
        hold: (hold) => (amounts.set(hold.id, hold.amount), ledger.hold(hold)),
        async renew(holds, leaseMs) {
          await ledger.renew(holds, leaseMs)
          for (const { id, account } of holds)
            await ledger.hold({ id, account, amount: amounts.get(id) ?? 0n, leaseMs })
        },
      }
    },
    'revives none that is over',
  ],
  [
    'credit adds again when it is repeated',
    (ledger) => {
      let made = 0
      return { credit: (credit) => ledger.credit({ ...credit, reference: `${credit.reference} ${++made}` }) }
    },
    'credits once for a reference',
  ],
  [
    'credit looks whether it knows the reference, waits and then adds',
    (ledger) => {
      const seen = new Set<string>()
      let made = 0
      return {
        async credit(credit) {
          const known = seen.has(credit.reference)
          await turn()
          seen.add(credit.reference)
          return ledger.credit(known ? credit : { ...credit, reference: `${credit.reference} ${++made}` })
        },
      }
    },
    'credits once for a reference',
  ],
  [
    'credit takes another amount under a known reference for the same credit',
    (ledger) => ({
      async credit(credit) {
        const verdict = await ledger.credit(credit)
        return verdict.outcome === 'conflict' ? { ...verdict, outcome: 'already' } : verdict
      },
    }),
    'tells a reference that stands for another credit',
  ],
  [
    'amounts are kept as floating-point numbers',
    (ledger) => ({ hold: (hold) => ledger.hold({ ...hold, amount: BigInt(Math.fround(Number(hold.amount))) }) }),
    'counts large amounts to the last digit',
  ],
  [
    'open begins anew with an account that exists',
    (ledger) => ({
      async open(account) {
        const opened = await ledger.open(account)
        return { ...opened, balance: 0n, held: 0n }
      },
    }),
    'opens an account that exists without touching its money',
  ],
  [
    'accounts differ in case only where somebody looks',
    (ledger) => ({
      account: (id) => ledger.account(id.toLowerCase()),
      credit: (credit) => ledger.credit({ ...credit, account: credit.account.toLowerCase() }),
      hold: (hold) => ledger.hold({ ...hold, account: hold.account.toLowerCase() }),
    }),
    'keeps accounts, ids and references apart that look alike',
  ],
  [
    'the books are listed from the oldest',
    (ledger) => ({
      async entries(account, page) {
        const { items } = (await ledger.entries?.(account, { limit: 1_000 })) ?? { items: [] }
        return { items: items.toReversed().slice(0, page.limit) }
      },
    }),
    'lists the books of an account, newest first',
  ],
  [
    'audit adds up the balances instead of the entries',
    (ledger) => ({
      audit: async () => ({ ...(await ledger.audit()), credits: (await ledger.audit()).balances, faults: [] }),
    }),
    'adds up: credits are balances, holds and settlements',
  ],
]

async function settleWithin(ledger: Ledger, settlement: Settlement) {
  const { held }: Pick<LedgerAccount, 'held'> = (await ledger.account(settlement.account)) ?? { held: 0n }
  return ledger.settle({ ...settlement, amount: settlement.amount > held && held > 0n ? held : settlement.amount })
}

describe('the suite of the ledger finds that', () => {
  plant((run, factory) => testLedger(run, factory, { wait }), good, faults)
})

import { describe } from 'vitest'
import type { LedgerAccount, Ledger, Settlement } from '../../src/money/ledger/contract.ts'
import { memoryLedger } from '../../src/money/ledger/memory.ts'
import { testLedger } from '../../src/testing/ledger.ts'
import { plant, turn, type Fault } from './faults.ts'

let now = 1_900_000_000_000
const wait = (ms: number) => void (now += ms)
const good = () => memoryLedger({ clock: () => now })

const faults: Fault<Ledger>[] = [
  [
    'compact forgets the charges that it replaces',
    (ledger) => ({
      entries: async (account, page) => {
        const { items, ...rest } = (await ledger.entries?.(account, page)) ?? { items: [] }
        return { ...rest, items: items.filter(({ kind }) => kind !== 'opening') }
      },
    }),
    'compact replaces old charges by their exact sum; balance, audit and payments stay',
  ],
  [
    'compact replaces every charge, also a recent one',
    (ledger) => ({ compact: (account, _, most) => ledger.compact?.(account, Infinity, most) ?? 0 }),
    'compact replaces old charges by their exact sum; balance, audit and payments stay',
  ],
  [
    'each call of compact leaves a sum of its own',
    (ledger) => {
      const firsts = new Map<string, bigint>()
      return {
        entries: async (account, page) => {
          const { items, ...rest } = (await ledger.entries?.(account, page)) ?? { items: [] }
          const split = items.flatMap((item) => {
            if (item.kind !== 'opening') return [item]
            const first = firsts.get(account) ?? item.amount
            firsts.set(account, first)
            return [
              { ...item, amount: item.amount - first },
              { ...item, amount: first, number: item.number - 0.5 },
            ]
          })
          return { ...rest, items: split }
        },
      }
    },
    'compact adds to an earlier sum, in pages and while calls are charged',
  ],
  [
    'hold reads the balance, waits and then takes the amount',
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
    'concurrent holds are granted up to the balance and no further',
  ],
  [
    'hold takes the amount again for a known id',
    (ledger) => {
      let made = 0
      return { hold: (hold) => ledger.hold({ ...hold, id: `${hold.id} ${++made}` }) }
    },
    'holds an id once, even if repeated concurrently',
  ],
  [
    'hold requires one unit more than it takes',
    (ledger) => ({
      async hold(hold) {
        const found = await ledger.account(hold.account)
        const short = found !== undefined && !found.unlimited && found.balance < hold.amount + 1n
        return short ? { outcome: 'insufficient', balance: found.balance } : ledger.hold(hold)
      },
    }),
    'grants a hold up to the exact balance',
  ],
  [
    'hold opens an unknown account as unlimited',
    (ledger) => ({
      async hold(hold) {
        const found = await ledger.account(hold.account)
        if (found === undefined) await ledger.open({ id: hold.account, unlimited: true })
        return ledger.hold(hold)
      },
    }),
    'rejects a hold on an unknown account',
  ],
  [
    'balances are counted as floating-point numbers',
    (ledger) => ({
      async account(id) {
        const found = await ledger.account(id)
        return found && { ...found, balance: BigInt(Number(found.balance)) }
      },
    }),
    'balances beyond 2^53 are exact',
  ],
  [
    'hold forgets that an id has ended',
    (ledger) => ({
      async hold(hold) {
        const verdict = await ledger.hold(hold)
        return verdict.outcome === 'ended' ? ledger.hold({ ...hold, id: `${hold.id} again` }) : verdict
      },
    }),
    'reports a hold as ended if its settlement or release arrived first',
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
    'settles an id once; repeated settlements return the amount charged',
  ],
  [
    'settle charges no more than was held',
    (ledger) => ({ settle: async (settlement) => settleWithin(ledger, settlement) }),
    'settles more than the hold in full, below zero if necessary, and reports the overage',
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
    'settles less than the hold and returns the rest to the balance',
  ],
  [
    'settle ignores an unknown hold',
    (ledger) => ({
      async settle(settlement) {
        const { held = 0n } = (await ledger.account(settlement.account)) ?? {}
        if (held === 0n) return { outcome: 'released', charged: 0n, overage: 0n }
        return ledger.settle(settlement)
      },
    }),
    'settles an unknown hold in full',
  ],
  [
    'settle charges a released hold',
    (ledger) => ({
      async settle(settlement) {
        const verdict = await ledger.settle(settlement)
        return verdict.outcome === 'released'
          ? ledger.settle({ ...settlement, id: `${settlement.id} anyway` })
          : verdict
      },
    }),
    'does not settle a released hold or release a settled one',
  ],
  [
    'release settles and credits the amount again each time',
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
    'releases a hold once and returns all of it',
  ],
  [
    'a hold has no lease',
    (ledger) => ({ hold: (hold) => ledger.hold({ ...hold, leaseMs: 1e12 }) }),
    'returns a hold to the balance when its lease expires',
  ],
  [
    'renew does nothing',
    () => ({ renew: () => undefined }),
    'renew extends open holds but does not revive ended or expired ones',
  ],
  [
    'renew revives ended holds',
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
    'renew extends open holds but does not revive ended or expired ones',
  ],
  [
    'credit adds again when it is repeated',
    (ledger) => {
      let made = 0
      return { credit: (credit) => ledger.credit({ ...credit, reference: `${credit.reference} ${++made}` }) }
    },
    'credits a reference once, even if repeated concurrently',
  ],
  [
    'credit reads the reference, waits and then adds',
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
    'credits a reference once, even if repeated concurrently',
  ],
  [
    'credit treats another amount under a known reference as the same credit',
    (ledger) => ({
      async credit(credit) {
        const verdict = await ledger.credit(credit)
        return verdict.outcome === 'conflict' ? { ...verdict, outcome: 'already' } : verdict
      },
    }),
    'reports a conflict if a reference is reused for another amount or account',
  ],
  [
    'amounts are kept as floating-point numbers',
    (ledger) => ({ hold: (hold) => ledger.hold({ ...hold, amount: BigInt(Math.fround(Number(hold.amount))) }) }),
    'amounts up to 2^53 are exact',
  ],
  [
    'open resets an existing account',
    (ledger) => ({
      async open(account) {
        const opened = await ledger.open(account)
        return { ...opened, balance: 0n, held: 0n }
      },
    }),
    'opening an existing account does not change its balance or holds',
  ],
  [
    'entries are listed oldest first',
    (ledger) => ({
      async entries(account, page) {
        const { items } = (await ledger.entries?.(account, { limit: 1_000 })) ?? { items: [] }
        return { items: items.toReversed().slice(0, page.limit) }
      },
    }),
    'lists the entries of an account in pages, newest first',
  ],
  [
    'audit adds up the balances instead of the entries',
    (ledger) => ({
      audit: async () => ({ ...(await ledger.audit()), credits: (await ledger.audit()).balances, faults: [] }),
    }),
    'credits equal balances plus holds plus settlements, and the audit confirms it',
  ],
]

async function settleWithin(ledger: Ledger, settlement: Settlement) {
  const { held }: Pick<LedgerAccount, 'held'> = (await ledger.account(settlement.account)) ?? { held: 0n }
  return ledger.settle({ ...settlement, amount: settlement.amount > held && held > 0n ? held : settlement.amount })
}

describe('the suite of the ledger finds that', () => {
  plant((run, factory) => testLedger(run, factory, { wait }), good, faults)
})

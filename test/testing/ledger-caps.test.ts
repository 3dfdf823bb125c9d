import { describe } from 'vitest'
import type { CapClaim, CapPeriods, LedgerCaps } from '../../src/money/caps/contract.ts'
import { capPeriodAt } from '../../src/money/caps/period.ts'
import type { Hold, Ledger, Settlement } from '../../src/money/ledger/contract.ts'
import { memoryLedger } from '../../src/money/ledger/memory.ts'
import { testLedger } from '../../src/testing/ledger.ts'
import { methodsOf, plant, turn, type Fault } from './faults.ts'

let now = 1_900_000_000_000
const wait = (ms: number) => void (now += ms)
const good = () => memoryLedger({ clock: () => now })

function capsOf(ledger: Ledger, changes: Partial<LedgerCaps>): { readonly caps: LedgerCaps } {
  const { caps } = ledger as Required<Pick<Ledger, 'caps'>>
  return { caps: { ...methodsOf(caps), ...changes } }
}

/** A fault of the claims, wherever they are passed. */
function withClaims(ledger: Ledger, change: (claim: CapClaim) => CapClaim): Partial<Ledger> {
  return {
    hold: (hold) => ledger.hold({ ...hold, ...(hold.caps && { caps: hold.caps.map(change) }) }),
    ...capsOf(ledger, { read: async (claims) => (await ledger.caps?.read(claims.map(change))) ?? [] }),
  }
}

/** A fault of what holds request, without one of what is read. */
function withHolds(ledger: Ledger, change: (hold: Hold) => Hold): Partial<Ledger> {
  return { hold: (hold) => ledger.hold(hold.caps === undefined ? hold : change(hold)) }
}

function withSettlements(ledger: Ledger, change: (settlement: Settlement) => Settlement): Partial<Ledger> {
  return { settle: (settlement) => ledger.settle(change(settlement)) }
}

function unlimited(claim: CapClaim): CapClaim {
  return { ...claim, limits: {} }
}

function rolling(periods: CapPeriods, change: (grainMs: number, rollingMs: number) => CapPeriods): CapPeriods {
  return 'grainMs' in periods ? change(periods.grainMs, periods.rollingMs) : periods
}

/** All thresholds of a settlement, changed. */
function withMarks(settlement: Settlement, change: (id: string) => string): Settlement {
  const { caps = [], balanceThresholds = [] } = settlement
  return {
    ...settlement,
    caps: caps.map((cap) => ({
      ...cap,
      thresholds: cap.thresholds?.map((threshold) => ({ ...threshold, id: change(threshold.id) })) ?? [],
    })),
    balanceThresholds: balanceThresholds.map((threshold) => ({ ...threshold, id: change(threshold.id) })),
  }
}

let made = 0

const faults: Fault<Ledger>[] = [
  [
    'hold grants one unit more than the limit',
    (ledger) => {
      const more = (claim: CapClaim) => {
        const limits = Object.entries(claim.limits).map(([measure, limit]) => [measure, limit + 1n])
        return { ...claim, limits: Object.fromEntries(limits) as CapClaim['limits'] }
      }
      return withHolds(ledger, (hold) => ({ ...hold, caps: hold.caps?.map(more) ?? [] }))
    },
    'grants holds up to the exact limit of each measure',
  ],
  [
    'hold checks only the first of several caps',
    (ledger) =>
      withHolds(ledger, (hold) => ({
        ...hold,
        caps: hold.caps?.map((claim, index) => (index === 0 ? claim : unlimited(claim))) ?? [],
      })),
    'a hold that does not fit one of its caps changes nothing',
  ],
  [
    'hold counts for the caps that it fits, although another one refuses it',
    (ledger) => ({
      async hold(hold) {
        const verdict = await ledger.hold(hold)
        if (verdict.outcome !== 'capped') return verdict
        for (const claim of hold.caps ?? []) {
          await ledger.hold({ ...hold, id: `${hold.id} ${claim.name}`, amount: 0n, caps: [claim] })
        }
        return verdict
      },
    }),
    'a hold that does not fit one of its caps changes nothing',
  ],
  [
    'a refused hold takes its amount from the balance',
    (ledger) => ({
      async hold(hold) {
        const verdict = await ledger.hold(hold)
        if (verdict.outcome === 'capped') await ledger.hold({ ...hold, id: `${hold.id} ${++made}`, caps: [] })
        return verdict
      },
    }),
    'a hold that does not fit one of its caps changes nothing',
  ],
  [
    'hold counts for the caps before it looks at the balance',
    (ledger) => ({
      async hold(hold) {
        const verdict = await ledger.hold(hold)
        if (verdict.outcome === 'insufficient') await ledger.hold({ ...hold, id: `${hold.id} ${++made}`, amount: 0n })
        return verdict
      },
    }),
    'a hold that the balance does not cover counts for no cap',
  ],
  [
    'hold reads the use, waits and then counts',
    (ledger) => ({
      async hold(hold) {
        const states = (await ledger.caps?.read(hold.caps ?? [])) ?? []
        await turn()
        const full = states.some(({ settled, held, limits: { money } }) => {
          return money !== undefined && settled.money + held.money + hold.amount > money
        })
        return ledger.hold(full ? hold : { ...hold, ...(hold.caps && { caps: hold.caps.map(unlimited) }) })
      },
    }),
    'concurrent holds of many accounts never pass a cap',
  ],
  [
    'each account has its own use of a shared cap',
    (ledger) => ({
      hold: ({ caps, ...hold }) =>
        ledger.hold(
          caps === undefined ? hold : { ...hold, caps: caps.map((cap) => ({ ...cap, window: hold.account })) },
        ),
    }),
    'concurrent holds of many accounts never pass a cap',
  ],
  [
    'hold counts no tokens',
    (ledger) => withHolds(ledger, (hold) => ({ ...hold, tokens: 0n })),
    'a measure without a limit is counted and not limited',
  ],
  [
    'a settlement leaves its hold in the use',
    (ledger) => ({
      async settle(settlement) {
        const verdict = await ledger.settle(settlement)
        const caps = settlement.caps?.map(({ name, window, start, end }) => {
          return { name, window, limits: {}, periods: { boundaries: [start, end] } }
        })
        await ledger.hold({ ...settlement, id: `${settlement.id} rest`, amount: 0n, leaseMs: 1e12, caps: caps ?? [] })
        return verdict
      },
    }),
    'a settlement counts what it used, and the rest of its hold returns',
  ],
  [
    'a settlement counts no more than was held',
    (ledger) => {
      const amounts = new Map<string, bigint>()
      return {
        hold: (hold) => (amounts.set(hold.id, hold.amount), ledger.hold(hold)),
        async settle(settlement) {
          const held = amounts.get(settlement.id) ?? 0n
          const { caps, ...rest } = settlement
          if (settlement.amount <= held) return ledger.settle(settlement)
          await ledger.settle({ ...settlement, ...(caps && { caps }), id: `${settlement.id} part`, amount: held })
          return ledger.settle(rest)
        },
      }
    },
    'a settlement that exceeds its hold counts in full',
  ],
  [
    'a settlement without a hold is not counted',
    (ledger) => {
      const known = new Set<string>()
      return {
        hold: (hold) => (known.add(hold.id), ledger.hold(hold)),
        settle: ({ caps, ...rest }) => ledger.settle(known.has(rest.id) ? { ...rest, ...(caps && { caps }) } : rest),
      }
    },
    'a settlement without a hold counts in full',
  ],
  [
    'a repeated settlement counts again',
    (ledger) => ({
      async settle(settlement) {
        const verdict = await ledger.settle(settlement)
        if (verdict.outcome === 'already') await ledger.settle({ ...settlement, id: `${settlement.id} ${++made}` })
        return verdict
      },
    }),
    'a hold and a settlement count once, even if repeated concurrently',
  ],
  [
    'a settlement of a released hold counts',
    (ledger) => ({
      async settle(settlement) {
        const verdict = await ledger.settle(settlement)
        if (verdict.outcome === 'released') await ledger.settle({ ...settlement, id: `${settlement.id} ${++made}` })
        return verdict
      },
    }),
    'a released hold counts nothing',
  ],
  [
    'a settlement counts in the period in which it arrives',
    (ledger) => {
      const claims = new Map<string, readonly CapClaim[]>()
      return {
        hold: (hold) => (claims.set(hold.id, hold.caps ?? []), ledger.hold(hold)),
        settle: (settlement) => {
          const caps = settlement.caps?.map((cap) => {
            const claim = claims.get(settlement.id)?.find(({ name }) => name === cap.name)
            return claim === undefined ? cap : { ...cap, ...capPeriodAt(claim, now) }
          })
          return ledger.settle({ ...settlement, ...(caps && { caps }) })
        },
      }
    },
    'each period counts anew',
  ],
  [
    'a repeated hold reports the current period',
    (ledger) => ({
      async hold(hold) {
        const verdict = await ledger.hold(hold)
        const caps = verdict.caps?.map((cap, index) => {
          const claim = hold.caps?.[index]
          return claim === undefined ? cap : { ...cap, ...capPeriodAt(claim, now) }
        })
        return { ...verdict, ...(caps && { caps }) }
      },
    }),
    'a repeated hold stays in the period in which it was made',
  ],
  [
    'a rolling window starts anew with every period',
    (ledger) =>
      withClaims(ledger, (claim) => {
        return { ...claim, periods: rolling(claim.periods, (grainMs) => ({ grainMs, rollingMs: 0 })) }
      }),
    'a rolling window counts use until its length after the end',
  ],
  [
    'another window takes over the use',
    (ledger) => ({
      ...withClaims(ledger, (claim) => ({ ...claim, window: 'one' })),
      ...withSettlements(ledger, (settlement) => {
        const caps = settlement.caps?.map((cap) => ({ ...cap, window: 'one' }))
        return { ...settlement, ...(caps && { caps }) }
      }),
    }),
    'another window counts anew, and leaves the earlier use where it was',
  ],
  [
    'a clock outside all periods counts in the last one',
    (ledger) =>
      withClaims(ledger, (claim) => {
        if ('grainMs' in claim.periods) return claim
        return { ...claim, periods: { boundaries: [0, ...claim.periods.boundaries, 9e15] } }
      }),
    'rejects a call if its clock is outside all periods',
  ],
  [
    'holds of other accounts never expire',
    (ledger) => {
      const first = new Map<string, string>()
      return {
        hold(hold) {
          for (const { name } of hold.caps ?? []) if (!first.has(name)) first.set(name, hold.account)
          const own = hold.caps?.every(({ name }) => first.get(name) === hold.account) ?? true
          return ledger.hold(own && hold.caps !== undefined ? { ...hold, leaseMs: 1e12 } : hold)
        },
      }
    },
    'an expired hold counts no longer, also for other accounts',
  ],
  [
    'an override applies to what is read, not to holds',
    (ledger) => {
      const stored = new Map<string, Parameters<LedgerCaps['override']>[0]>()
      return capsOf(ledger, {
        override: (override) => void stored.set(override.name, override),
        overrides: (name) => [stored.get(name)].filter((each) => each !== undefined),
      })
    },
    'overrides replace limits by measure',
  ],
  [
    'a temporary override replaces the lasting one',
    (ledger) =>
      capsOf(ledger, {
        async override({ name, limits }) {
          await ledger.caps?.override({ name, limits })
        },
      }),
    'overrides replace limits by measure',
  ],
  [
    'a temporary override never ends',
    (ledger) =>
      capsOf(ledger, {
        async override({ until, ...override }) {
          await ledger.caps?.override(until === undefined ? override : { ...override, until: until * 2 })
        },
      }),
    'an override ends at its time',
  ],
  [
    'hold refuses zero for an unknown account',
    (ledger) => ({
      async hold(hold) {
        const known = await ledger.account(hold.account)
        return known === undefined ? { outcome: 'insufficient', balance: 0n } : ledger.hold(hold)
      },
    }),
    'a hold of zero is never insufficient, and opens an unknown account',
  ],
  [
    'names of caps are compared without case',
    (ledger) => withClaims(ledger, (claim) => ({ ...claim, name: claim.name.toLowerCase() })),
    'caps: compares names and windows byte for byte',
  ],
  [
    'use is counted as floating-point numbers',
    (ledger) =>
      capsOf(ledger, {
        async read(claims) {
          const states = (await ledger.caps?.read(claims)) ?? []
          return states.map((state) => {
            const { money, ...settled } = state.settled
            return { ...state, settled: { ...settled, money: BigInt(Number(money)) } }
          })
        },
      }),
    'caps: use beyond 2^53 is exact',
  ],
  [
    'a refund takes off more than the settlement charged',
    (ledger) => {
      const charges = new Map<string, Settlement>()
      return {
        settle: (settlement) => (charges.set(settlement.id, settlement), ledger.settle(settlement)),
        async credit({ refunds, ...credit }) {
          const { caps, account } = charges.get(refunds ?? '') ?? {}
          const verdict = await ledger.credit(credit)
          if (caps === undefined || account !== credit.account || verdict.outcome !== 'credited') return verdict
          await ledger.settle({ id: `${credit.reference} off`, account, amount: -credit.amount, caps })
          return verdict
        },
      }
    },
    'a refund takes money off the use of its settlement',
  ],
  [
    'a notice is recorded again by each settlement',
    (ledger) => withSettlements(ledger, (settlement) => withMarks(settlement, (id) => `${id} ${++made}`)),
    'the settlement that reaches a threshold records its notice',
  ],
  [
    'open holds count as spent for the level of a balance',
    (ledger) => ({
      async settle(settlement) {
        const { held = 0n } = (await ledger.account(settlement.account)) ?? {}
        const balanceThresholds =
          settlement.balanceThresholds?.map((threshold) => ({ ...threshold, at: threshold.at + held })) ?? []
        return ledger.settle({ ...settlement, balanceThresholds })
      },
    }),
    'a settlement that takes an account below a level records its notice',
  ],
  [
    'a repeated settlement records a notice',
    (ledger) => ({
      async settle(settlement) {
        const verdict = await ledger.settle(settlement)
        const { account, caps = [] } = settlement
        const again = { account, caps, id: `${settlement.id} ${++made}`, amount: 0n }
        if (verdict.outcome !== 'settled') await ledger.settle(again)
        return verdict
      },
    }),
    'a repeated settlement, and one of a released hold, record nothing',
  ],
  [
    'two processes take the same notice',
    (ledger) => capsOf(ledger, { claimNotices: async (limit) => (await ledger.caps?.claimNotices(limit, 0)) ?? [] }),
    'a notice is taken by one process at a time',
  ],
  [
    'a notice that was taken is lost if its process dies',
    (ledger) => capsOf(ledger, { claimNotices: async (limit) => (await ledger.caps?.claimNotices(limit, 1e12)) ?? [] }),
    'a notice is taken by one process at a time',
  ],
  [
    'the notices of all accounts are deleted',
    (ledger) =>
      capsOf(ledger, {
        async deleteNotices() {
          const { items = [] } = (await ledger.caps?.listNotices?.({ limit: 1_000 })) ?? {}
          for (const { account } of items) await ledger.caps?.deleteNotices?.(account)
          return false
        },
      }),
    'deleteNotices deletes every notice of an account',
  ],
  [
    'a notice that is done is taken again',
    (ledger) => capsOf(ledger, { endNotice: async (id, retryMs) => ledger.caps?.endNotice(id, retryMs ?? 1) }),
    'a notice is taken by one process at a time',
  ],
]

describe('the suite of the ledger finds that', () => {
  plant(
    (run, factory) => testLedger((name, body) => name.includes('caps:') && run(name, body), factory, { wait }),
    good,
    faults,
  )
})

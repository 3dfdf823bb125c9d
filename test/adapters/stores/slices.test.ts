/** What a process draws in advance. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { AdmissionStore, CapClaim, Hold, LimitClaim, SliceEnds } from '../../../adapters/stores/index.ts'
import { Slices } from '../../../src/admission/slices/slices.ts'
import { seeded } from '../../../src/testing/random.ts'
import { describeOnPooled, type PooledDatabase } from '../../pooled-databases.ts'

const account = 'acme'
const leaseMs = 60_000
const credit = 1_000_000n
const rates = [{ bucket: 'units', cost: 2, limit: 1, periodMs: 1e12, burst: 100_000 }]
const places = [{ bucket: 'places', places: 1_000 }]
const period = { name: 'cap of acme', window: 'always', start: 0, end: 8.64e15, rollingMs: 0 }
const tokens = 3n
const caps: readonly CapClaim[] = [
  {
    ...period,
    periods: { boundaries: [period.start, period.end] },
    limits: { money: 10n * credit, calls: 1_000_000n },
  },
]

async function opened(connect: () => PooledDatabase) {
  const { open, clear } = connect()
  const storage = open()
  onTestFinished(async () => {
    await storage.close?.()
    await clear()
  })
  await storage.ledger.credit({ account, amount: credit, reference: 'credit' })
  const { admission, ledger, limits } = storage
  const state = async () => {
    const { balance = 0n, held = 0n } = (await ledger.account(account)) ?? {}
    const asked = { id: randomUUID(), rates: rates.map((rule) => ({ ...rule, cost: 0 })), places, leaseMs }
    const { left, free } = await limits.take(asked)
    await limits.give({ id: asked.id, places: ['places'], corrections: [] })
    expect((await ledger.audit()).faults).toEqual([])
    return { balance, held, units: Math.round(left[0] as number), places: (free[0] as number) + 1 }
  }
  // A slice is drawn from buckets that exist.
  await state()
  return { open, admission, ledger, limits, state }
}

const callOf = (id: string, amount = 10n, more: Partial<LimitClaim & Hold> = {}) => ({
  claim: { id, rates, places, leaseMs, ...more } satisfies LimitClaim,
  hold: { id, account, amount, leaseMs, ...more } satisfies Hold,
})
const sliceOf = (calls: number, ms = 1) => ({ id: `slice ${randomUUID()}`, calls, ms })
const endOf = (id: string, amount: bigint, isCapped = false) => ({
  end: { id, account, amount, ...(isCapped && { caps: [period], tokens }) },
  returned: { id, places: ['places'], corrections: [] },
})

describeOnPooled('in %s, a slice', (connect) => {
  test('is drawn for fewer calls, or none, where there is less than plenty of anything that limits the account', async () => {
    const { admission, ledger, limits } = await opened(connect)
    const drawn = async (more: Partial<LimitClaim & Hold>, amount = 10n) => {
      const { claim, hold } = callOf(randomUUID(), amount, more)
      const asked = { ...claim, id: randomUUID(), rates: claim.rates.map((rule) => ({ ...rule, cost: 0 })) }
      await limits.take(asked)
      await limits.give({ id: asked.id, places: claim.places.map(({ bucket }) => bucket), corrections: [] })
      return (await admission.admit(claim, hold, sliceOf(8))).ahead ?? 0
    }
    expect(await drawn({}, 5_000n)).toBe(3)
    expect(await drawn({}, 50_000n)).toBe(0)
    expect(await drawn({ rates: [{ ...rates[0], bucket: 'few', burst: 300 } as never] })).toBe(2)
    expect(await drawn({ places: [{ bucket: 'two', places: 2 }] })).toBe(0)
    expect(await drawn({ places: [{ bucket: 'fifty', places: 50 }] })).toBe(3)
    await ledger.open({ id: 'unlimited', unlimited: true })
    expect(await drawn({ account: 'unlimited' }, 50_000n)).toBe(8)
    expect(await drawn({ account: 'unknown' })).toBe(0)
  })
})

/** A process that draws slices and ends calls, over a store that fails and answers late. */
class Process {
  readonly charged = new Map<string, bigint>()
  /** Calls that slices have admitted. */
  drawn = 0
  readonly slices: Slices
  readonly #open: { readonly id: string; readonly amount: bigint }[] = []
  readonly #admission: AdmissionStore
  readonly #random: () => number
  readonly #name: string
  readonly #isCapped: boolean
  #made = 0
  #waiting: ReturnType<typeof endOf>[] = []

  constructor(name: string, admission: AdmissionStore, random: () => number, isCapped: boolean) {
    this.#name = name
    this.#isCapped = isCapped
    this.#admission = admission
    this.#random = random
    this.slices = new Slices({
      ms: 200,
      admit: async (claim, hold, slice) => {
        const verdict = await admission.admit(claim, hold, slice)
        if (random() < 0.05) throw new Error('the answer is lost')
        return verdict
      },
      finish: (ends) => this.#finish([], ends),
    })
  }

  async call(): Promise<void> {
    const id = `${this.#name} ${this.#made++}`
    const amount = 5n + BigInt(Math.floor(this.#random() * 10))
    const { claim, hold } = callOf(id, amount)
    try {
      const { hold: held } = await this.slices.admit(claim, this.#isCapped ? { ...hold, caps, tokens } : hold)
      if (held?.outcome === 'held') this.#open.push({ id, amount })
    } catch {
      this.#waiting.push({ ...endOf(id, 0n), end: { id, account } as never })
    }
  }

  end(): void {
    const [call] = this.#open.splice(Math.floor(this.#random() * this.#open.length), 1)
    if (call === undefined) return
    const amount = this.#random() < 0.2 ? 0n : (call.amount * BigInt(Math.floor(this.#random() * 100))) / 100n
    this.charged.set(call.id, amount)
    this.#waiting.push(endOf(call.id, amount, this.#isCapped))
  }

  async write(): Promise<void> {
    const endings = this.#waiting
    this.#waiting = []
    try {
      await this.slices.tell((slices) => this.#finish(endings, slices))
    } catch {
      this.#waiting.push(...endings)
    }
  }

  async close(): Promise<void> {
    while (this.#open.length > 0) this.end()
    while (this.#waiting.length > 0) await this.write()
    await this.slices.close()
    await this.slices.tell((ends) => this.#admission.finish([], ends))
  }

  async #finish(endings: readonly ReturnType<typeof endOf>[], slices: SliceEnds | undefined): Promise<void> {
    const fate = this.#random()
    if (fate < 0.1) throw new Error('it has not arrived')
    await this.#admission.finish(endings, slices)
    this.drawn += slices?.draws.length ?? 0
    if (fate < 0.2) throw new Error('the answer is lost')
  }
}

describeOnPooled('in %s, the slices of several processes', (connect) => {
  test.each([
    [1, false],
    [2, false],
    [3, false],
    [4, true],
    [5, true],
    [6, true],
  ])('leave exact books, whatever fails: seed %i, with caps: %s', async (seed, isCapped) => {
    const { open, ledger, state } = await opened(connect)
    const random = seeded(seed)
    const processes = Array.from(
      { length: 3 },
      (_, index) => new Process(`p${index}`, open().admission, random, isCapped),
    )
    for (let round = 0; round < 120; round++) {
      const acts = processes.flatMap((process) => {
        const calls = Array.from({ length: Math.floor(random() * 4) }, () => process.call())
        for (let ends = Math.floor(random() * 4); ends > 0; ends--) process.end()
        return random() < 0.4 ? [...calls, process.write()] : calls
      })
      await Promise.all(acts)
      if (round % 20 === 0) expect((await ledger.audit()).faults).toEqual([])
    }
    await Promise.all(processes.map((process) => process.close()))
    const charged = processes.flatMap((process) => [...process.charged.values()]).reduce((sum, each) => sum + each, 0n)
    expect(charged).toBeGreaterThan(0n)
    expect(processes.reduce((sum, { drawn }) => sum + drawn, 0)).toBeGreaterThan(50)
    expect(await state()).toMatchObject({ balance: credit - charged, held: 0n, places: 1_000 })
    const [cap] = (await ledger.caps?.read(caps)) ?? []
    const calls = isCapped ? BigInt(processes.reduce((sum, each) => sum + each.charged.size, 0)) : 0n
    const settled = { money: isCapped ? charged : 0n, tokens: tokens * calls, calls }
    expect(cap).toMatchObject({ settled, held: { money: 0n, tokens: 0n, calls: 0n } })
    const { items } = (await ledger.entries?.(account, { limit: 1_000 })) ?? { items: [] }
    expect(items.filter(({ overage }) => overage > 0n)).toEqual([])
  })
})

/** What a process tells the store about what it has drawn in advance. */
import { expect, onTestFinished, test } from 'vitest'
import type { SliceEnds } from '../../src/admission/contract.ts'
import { Slice } from '../../src/admission/slices/slice.ts'
import { Slices } from '../../src/admission/slices/slices.ts'

test('a draw is told again with what follows it, until the store has accepted it', async () => {
  const slices = new Slices({
    ms: 60_000,
    admit: (_, __, slice) => {
      const limits = { admitted: true, left: [], free: [] }
      return { limits, hold: { outcome: 'held', balance: 1_000n }, ahead: slice?.calls ?? 0 }
    },
    finish: () => undefined,
  })
  const admit = (id: string) =>
    slices.admit({ id, rates: [], places: [], leaseMs: 60_000 }, { id, account: 'acme', amount: 1n, leaseMs: 60_000 })
  for (const id of ['alone', 'first', 'drawn']) await admit(id)
  const told: string[][] = []
  const note = (ends?: SliceEnds) => void told.push((ends?.draws ?? []).map(({ hold }) => hold.id))
  const onItsWay = Promise.withResolvers<void>()
  const telling = slices.tell((ends) => (note(ends), onItsWay.promise))
  await expect(slices.tell((ends) => (note(ends), Promise.reject(new Error('down'))))).rejects.toThrow('down')
  await slices.tell(note)
  onItsWay.resolve()
  await telling
  await slices.tell(note)
  expect(told).toEqual([['drawn'], ['drawn'], ['drawn'], []])
})

test('of calls that arrive at once, one asks for a slice', async () => {
  let wishes = 0
  const slices = new Slices({
    ms: 200,
    admit: async ({ places }, { amount }, slice) => {
      if (slice !== undefined) wishes++
      await new Promise((resolve) => setImmediate(resolve))
      const limits = { admitted: true, left: [], free: places.map(() => 100) }
      return { limits, hold: { outcome: 'held', balance: amount }, ...(slice && { ahead: slice.calls }) }
    },
    finish: async () => undefined,
  })
  const call = async (id: string) => {
    const claim = { id, rates: [], places: [{ bucket: 'places', places: 100 }], leaseMs: 60_000 }
    return slices.admit(claim, { id, account: 'acme', amount: 1n, leaseMs: 60_000 })
  }
  await Promise.all(Array.from({ length: 10 }, (_, index) => call(`at once ${index}`)))
  expect(wishes).toBe(1)
  await slices.close()
})

test('a slice that a call has not fitted into goes back by its time, although no call ends', async () => {
  const returned = Promise.withResolvers<SliceEnds>()
  const slices = new Slices({
    ms: 50,
    admit: (_, { amount }, slice) => {
      const limits = { admitted: true, left: [], free: [] }
      if (amount > 1n) return { limits, hold: { outcome: 'insufficient', balance: 0n } }
      return { limits, hold: { outcome: 'held', balance: 10n }, ...(slice && { ahead: slice.calls }) }
    },
    finish: (ends) => returned.resolve(ends),
  })
  const admit = (id: string, amount: bigint) =>
    slices.admit({ id, rates: [], places: [], leaseMs: 60_000 }, { id, account: 'acme', amount, leaseMs: 60_000 })
  for (const id of ['alone', 'first']) await admit(id, 1n)
  await admit('large', 5n)
  expect((await returned.promise).returns).toMatchObject([{ account: 'acme' }])
})

test('a slice admits calls with its caps, as long as it holds enough tokens for them', async () => {
  const asked: string[] = []
  const slices = new Slices({
    ms: 60_000,
    admit: (_, { id, caps = [] }, slice) => {
      asked.push(id)
      const limits = { admitted: true, left: [], free: [] }
      const states = caps.map(({ name, window }) => ({ ...stateOf(name, window), limits: {} }))
      return { limits, hold: { outcome: 'held', balance: 1_000n, caps: states }, ...(slice && { ahead: slice.calls }) }
    },
    finish: () => undefined,
  })
  const admit = async (id: string, name: string, tokens: bigint, limit = 100n) => {
    const caps = [{ name, window: 'always', periods: { boundaries: [0, 8e15] }, limits: { tokens: limit } }]
    const hold = { id, account: 'acme', amount: 1n, leaseMs: 60_000, caps, tokens }
    return slices.admit({ id, rates: [], places: [], leaseMs: 60_000 }, hold)
  }
  for (const id of ['alone', 'first', 'second']) await admit(id, 'a', 5n)
  const { hold } = await admit('drawn', 'a', 5n)
  expect(hold?.caps).toMatchObject([{ name: 'a', window: 'always', start: 0 }])
  await admit('of another cap', 'b', 5n)
  await admit('of another limit', 'a', 5n, 99n)
  await admit('too large', 'a', 16n)
  expect(asked).toEqual(['alone', 'first', 'drawn', 'of another cap', 'of another limit', 'too large'])
  await slices.close()
})

function stateOf(name: string, window: string) {
  const nothing = { money: 0n, tokens: 0n, calls: 0n }
  return { name, window, start: 0, end: 8e15, rollingMs: 0, resetsAt: 8e15, settled: nothing, held: nothing }
}

test('a slice that goes back long after its time gives no units back, which have come back by themselves', async () => {
  const rate = { bucket: 'requests', limit: 10, periodMs: 1_000, burst: 10, cost: 1 }
  const hold = { id: 'first', account: 'acme', amount: 1n, leaseMs: 60_000 }
  const claim = { id: 'first', rates: [rate], places: [], leaseMs: 60_000 }
  const verdict = {
    limits: { admitted: true, left: [8], free: [] },
    hold: { outcome: 'held', balance: 9n },
    ahead: 1,
  } as const
  const slice = () => new Slice({ id: 'slice 1', calls: 1, ms: 500 }, 1_000, claim, hold, verdict)
  expect(slice().rest(2_000).corrections).toEqual([{ ...rate, cost: -1 }])
  expect(slice().rest(2_001).corrections).toEqual([])
})

test('a slice whose store has answered after its time goes back at once, without a warning of Node', async () => {
  const warned: Error[] = []
  const warn = (warning: Error) => void (warning.name === 'TimeoutNegativeWarning' && warned.push(warning))
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  const returned = Promise.withResolvers<void>()
  const slices = new Slices({
    ms: 1,
    admit: async (_, __, slice) => {
      const since = performance.now()
      while (performance.now() < since + 5) await new Promise((resolve) => setImmediate(resolve))
      const limits = { admitted: true, left: [], free: [] }
      return { limits, hold: { outcome: 'held', balance: 10n }, ...(slice && { ahead: 1 }) }
    },
    finish: () => returned.resolve(),
  })
  const call = (id: string) =>
    slices.admit({ id, rates: [], places: [], leaseMs: 60_000 }, { id, account: 'acme', amount: 1n, leaseMs: 60_000 })
  await Promise.all([call('first'), call('second')])
  await returned.promise
  await new Promise((resolve) => setImmediate(resolve))
  expect(warned).toEqual([])
})

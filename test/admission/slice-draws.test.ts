/** What a process tells the store about what it has drawn in advance. */
import { expect, test } from 'vitest'
import type { SliceEnds } from '../../src/admission/contract.ts'
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

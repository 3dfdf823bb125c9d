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

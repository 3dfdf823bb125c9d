/** Small sizes of the models; `npm run model` explores larger ones. */
import { expect, test } from 'vitest'
import { callsModel, type Fault } from './calls.ts'
import { explore } from './explore.ts'
import { slicesModel, type SliceFault } from './slices.ts'

const small = { processes: 2, calls: 1, crashes: 1, pauses: 1, losses: 1 }

test('no order of calls, crashes, pauses, losses and payments passes a balance or a cap, charges twice, or leaves a hold', () => {
  const { states, violation } = explore(callsModel(small), true)
  expect(violation).toBeUndefined()
  expect(states).toBeGreaterThan(2_000)
})

test.each<[Fault, string]>([
  ['release forgotten', 'a hold has no owner'],
  ['settled anew', 'a call is charged twice'],
  ['lapses while open', 'a call has no hold'],
  ['lapses never', 'a hold never ends'],
])('a ledger with the fault "%s" is found', (fault, message) => {
  expect(explore(callsModel(small, fault), true).violation?.message).toBe(message)
})

test('caps that do not count holds are found', () => {
  const size = { processes: 3, calls: 2, crashes: 0, pauses: 0, losses: 0 }
  expect(explore(callsModel(size, 'caps ignore holds'), true).violation?.message).toMatch(/^the cap of \w+ is passed$/)
})

test('slices keep the books, and nobody is refused while a process has room', () => {
  const { states, violation } = explore(slicesModel(6, 4, 2))
  expect(violation).toBeUndefined()
  expect(states).toBeGreaterThan(1_000)
})

test.each<[SliceFault, string]>([
  ['swept while it can draw', 'the same money can be drawn by a process and is in the balance'],
  ['refuses without waiting', 'a call is refused while a process has room for it'],
  ['keeps its rest', 'a call is refused although its process has the rest'],
])('slices with the fault "%s" are found', (fault, message) => {
  expect(explore(slicesModel(6, 4, 2, fault), true).violation?.message).toBe(message)
})

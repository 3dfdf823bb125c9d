import { expect, test } from 'vitest'
import { StatementSlots } from '../../../adapters/stores/statement-slots.ts'

const abandoned = new Error('no answer')
/** Longer than a test may take. */
const rest = () => 600_000

test('after an error on connections that all are silent, the next statement runs at once', async () => {
  const slots = new StatementSlots(1)
  await slots.take(async () => 'before', 1_000, rest)
  await expect(slots.take(() => Promise.reject(abandoned), 1_000, rest)).rejects.toBe(abandoned)
  expect(await slots.take(async () => 'after', 1_000, rest)).toBe('after')
})

test('after an error while the server answered others, the slot is kept', async () => {
  const slots = new StatementSlots(2)
  const { promise, reject } = Promise.withResolvers<never>()
  const failing = expect(slots.take(() => promise, 1_000, rest)).rejects.toBe(abandoned)
  await slots.take(async () => 'meanwhile', 1_000, rest)
  reject(abandoned)
  await failing
  const running = Promise.withResolvers<void>()
  const ran: string[] = []
  const first = slots.take(() => (ran.push('first'), running.promise), 1_000)
  const second = slots.take(async () => ran.push('second'), 1_000)
  await Promise.resolve()
  expect(ran).toEqual(['first'])
  running.resolve()
  await Promise.all([first, second])
  expect(ran).toEqual(['first', 'second'])
})

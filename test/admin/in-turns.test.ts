import { expect, test } from 'vitest'
import { itemsPerTurn, mapInTurns } from '../../src/admin/in-turns.ts'

test('many items are mapped in several turns of the event loop, in their order', async () => {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const items = Array.from({ length: 5 * itemsPerTurn + 1 }, (_, index) => index)
  const mapped = await mapInTurns(items, (item) => item * 2)
  isOver = true
  expect(mapped).toEqual(items.map((item) => item * 2))
  expect(turns).toBeGreaterThanOrEqual(5)
})

/** The store's own clock, read over a network. */
import { expect, test } from 'vitest'
import { StoreTime } from '../../src/tasks/store-time.ts'

/** A store whose clock is `ahead` ms ahead of ours and takes `tookMs` to read. */
function timeOf({ ahead, tookMs }: { ahead: number; tookMs: number }): StoreTime {
  let local = 1_000_000
  const now = async () => {
    local += tookMs
    return local + ahead
  }
  return new StoreTime({ now }, () => local)
}

test.each([
  { ahead: 0, tookMs: 1 },
  { ahead: 0, tookMs: 3 },
  { ahead: 0.25, tookMs: 0 },
  { ahead: -60_000, tookMs: 7 },
])('times are whole milliseconds: %o', async (clock) => {
  const now = await timeOf(clock).now()
  expect(now).toSatisfy(Number.isSafeInteger)
  expect(now).toBeCloseTo(1_000_000 + clock.tookMs * 1.5 + clock.ahead, -1)
})

test('the time is that of the store', async () => {
  expect(await timeOf({ ahead: 60_000, tookMs: 0 }).now()).toBe(1_060_000)
})

/** The store's own clock, read over a network. */
import { expect, test } from 'vitest'
import { StoreTime } from '../../src/tasks/store-time.ts'

/** A store whose clock is `ahead` ms ahead of ours and takes `tookMs` to read, while which ours is set forward by `setMs`. */
function clocks({ ahead = 0, tookMs = 0, setMs = 0 }: { ahead?: number; tookMs?: number; setMs?: number }) {
  let [local, elapsed, readings] = [1_000_000, 5_000.5, 0]
  const pass = (ms: number) => {
    local += ms
    elapsed += ms
  }
  const set = (ms: number) => {
    local += ms
  }
  const now = async () => {
    readings++
    pass(tookMs)
    set(setMs)
    return elapsed - 5_000.5 + 1_000_000 + ahead
  }
  const time = new StoreTime(
    { now },
    () => local,
    () => elapsed,
  )
  return { time, pass, set, readings: () => readings }
}

test.each([
  { ahead: 0, tookMs: 1 },
  { ahead: 0, tookMs: 3 },
  { ahead: 0.25, tookMs: 0 },
  { ahead: -60_000, tookMs: 7 },
])('times are whole milliseconds: %o', async (clock) => {
  const now = await clocks(clock).time.now()
  expect(now).toSatisfy(Number.isSafeInteger)
  expect(now).toBeCloseTo(1_000_000 + clock.tookMs * 1.5 + clock.ahead, -1)
})

test('the time is that of the store', async () => {
  expect(await clocks({ ahead: 60_000 }).time.now()).toBe(1_060_000)
})

test('it is right although the local clock is set while that of the store is read', async () => {
  const { time, pass } = clocks({ setMs: 600_000 })
  expect(await time.now()).toBe(1_000_000)
  pass(10_000)
  expect(await time.now()).toBe(1_010_000)
})

test.each([900, 30_000, -30_000, 86_400_000])('and although it is set by %d ms afterwards', async (ms) => {
  const { time, pass, set } = clocks({})
  await time.now()
  set(ms)
  pass(20)
  expect(await time.now()).toBe(1_000_020)
})

test('the clock of the store is read once a minute, and where the machine has slept', async () => {
  const { time, pass, set, readings } = clocks({})
  for (let second = 0; second < 50; second++) {
    await time.now()
    pass(1_000)
  }
  expect(readings()).toBe(1)
  pass(11_000)
  await time.now()
  expect(readings()).toBe(2)
  // The other clock stands still meanwhile.
  set(3_600_000)
  await time.now()
  expect(readings()).toBe(3)
})

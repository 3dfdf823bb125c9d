import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Rounds } from '../../src/records/rounds.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Rounds every second, and how many there were. */
function counted(round: () => Promise<boolean> = async () => false) {
  const state = { rounds: 0 }
  const rounds = new Rounds({
    everyMs: 1_000,
    round() {
      state.rounds++
      return round()
    },
  })
  const during = async (ms: number) => {
    const before = state.rounds
    await vi.advanceTimersByTimeAsync(ms)
    return state.rounds - before
  }
  return { rounds, during }
}

describe('rounds', () => {
  test('begin with the first call of wake', async () => {
    const { rounds, during } = counted()
    expect(await during(60_000)).toBe(0)
    rounds.wake()
    expect(await during(10_000)).toBe(10)
  })

  test('are rare after a minute without work', async () => {
    const { rounds, during } = counted()
    rounds.wake()
    await during(75_000)
    expect(await during(600_000)).toBe(40)
  })

  test('are frequent while there is work', async () => {
    const { rounds, during } = counted(async () => true)
    rounds.wake()
    await during(120_000)
    expect(await during(60_000)).toBe(60)
  })

  test('are frequent again after wake, the first one within the usual time', async () => {
    const { rounds, during } = counted()
    rounds.wake()
    await during(80_000)
    rounds.wake()
    expect(await during(1_000)).toBe(1)
    expect(await during(10_000)).toBe(10)
  })

  test('are not put off by repeated calls of wake', async () => {
    const { rounds, during } = counted()
    for (let times = 0; times < 20; times++) {
      rounds.wake()
      await during(500)
    }
    expect(await during(0)).toBe(0)
    rounds.wake()
    expect(await during(1_000)).toBe(1)
  })

  test('go on after one that failed', async () => {
    const { rounds, during } = counted(() => Promise.reject(new Error('down')))
    rounds.wake()
    expect(await during(5_000)).toBe(5)
  })

  test('do not overlap', async () => {
    let end = (_hadWork: boolean): void => undefined
    const { rounds, during } = counted(() => new Promise((resolve) => (end = resolve)))
    rounds.wake()
    expect(await during(10_000)).toBe(1)
    rounds.wake()
    expect(await during(10_000)).toBe(0)
    end(false)
    expect(await during(1_000)).toBe(1)
  })

  test('end with stop, also during one', async () => {
    let end = (_hadWork: boolean): void => undefined
    const { rounds, during } = counted(() => new Promise((resolve) => (end = resolve)))
    rounds.wake()
    await during(1_000)
    rounds.stop()
    end(true)
    rounds.wake()
    expect(await during(600_000)).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })
})

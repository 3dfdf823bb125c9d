import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TimeLimit } from '../../src/http/time-limit.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function operation(ended: string[], name: string) {
  return { timedOut: () => void ended.push(`${name} at ${performance.now()}`) }
}

/** Starts an operation after each pause, and returns when each timed out. */
function started(limit: TimeLimit, ended: string[], pauses: Readonly<Record<string, number>>) {
  return Object.entries(pauses).map(([name, ms]) => {
    vi.advanceTimersByTime(ms)
    return limit.start(operation(ended, name))
  })
}

test('each operation times out after its own time, and all share one timer', () => {
  const ended: string[] = []
  const limit = new TimeLimit(100)
  const from = performance.now()
  started(limit, ended, { a: 0, b: 30, c: 0, d: 50 })
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(1_000)
  expect(ended).toEqual([`a at ${from + 100}`, `b at ${from + 130}`, `c at ${from + 130}`, `d at ${from + 180}`])
  expect(vi.getTimerCount()).toBe(0)
})

test('an operation that ended or was started again does not time out before its time', () => {
  const ended: string[] = []
  const limit = new TimeLimit(100)
  const from = performance.now()
  const [a, b] = started(limit, ended, { a: 0, b: 10, c: 10 })
  TimeLimit.stop(a)
  TimeLimit.stop(a)
  TimeLimit.stop(undefined)
  vi.advanceTimersByTime(60)
  if (b !== undefined) limit.restart(b)
  vi.advanceTimersByTime(1_000)
  expect(ended).toEqual([`c at ${from + 120}`, `b at ${from + 180}`])
})

test('operations that start another or end one when they time out', () => {
  const ended: string[] = []
  const limit = new TimeLimit(100)
  const from = performance.now()
  limit.start({ timedOut: () => void limit.start(operation(ended, 'next')) })
  const [gone] = started(limit, ended, { gone: 0, kept: 40 })
  limit.start({ timedOut: () => void limit.start(operation(ended, 'last')) })
  TimeLimit.stop(gone)
  vi.advanceTimersByTime(1_000)
  expect(ended).toEqual([`kept at ${from + 140}`, `next at ${from + 200}`, `last at ${from + 240}`])
})

test('a very long time is not a short one, and closing stops the timer', () => {
  const ended: string[] = []
  const limit = new TimeLimit(Infinity)
  started(limit, ended, { a: 0 })
  vi.advanceTimersByTime(86_400_000)
  expect([ended, vi.getTimerCount()]).toEqual([[], 1])
  limit.close()
  expect(vi.getTimerCount()).toBe(0)
})

test('operations that ended are not kept, however many there were', () => {
  const limit = new TimeLimit(1_000)
  const ended: string[] = []
  const [first] = started(limit, ended, { first: 0 })
  for (let index = 0; index < 100_000; index++) TimeLimit.stop(limit.start(operation(ended, 'ended')))
  const deadlines = Array.from({ length: 100_000 }, () => limit.start(operation(ended, 'open')))
  for (const deadline of deadlines) TimeLimit.stop(deadline)
  expect([first?.later, first?.earlier].every((each) => each?.later === first)).toBe(true)
  limit.close()
})

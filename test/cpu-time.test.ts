import { describe, expect, test } from 'vitest'
import { calmMs, leastMs, referenceMs } from './cpu-time.ts'

describe('a limit of CPU time, however busy the machine is:', () => {
  // Times are given, not measured: a machine whose speed changes during the test would decide it.
  const limit = 3 * calmMs

  test.each([1, 2, 5])('four pieces of work are over a limit of three on a machine %i times as slow', async (slow) => {
    expect(
      await leastMs(
        limit,
        () => 4 * calmMs * slow,
        () => calmMs * slow,
      ),
    ).toBeGreaterThan(limit)
  })

  test.each([1, 2, 5])('two are not on a machine %i times as slow', async (slow) => {
    expect(
      await leastMs(
        limit,
        () => 2 * calmMs * slow,
        () => calmMs * slow,
      ),
    ).toBeLessThanOrEqual(limit)
  })

  test('the work that machines are compared by takes time', () => {
    expect(referenceMs()).toBeGreaterThan(1)
  })

  test('it is extended as far as the machine is slower, and never cut', async () => {
    expect(
      await leastMs(
        200,
        () => 390,
        () => 2 * calmMs,
      ),
    ).toBe(195)
    expect(
      await leastMs(
        200,
        () => 210,
        () => calmMs / 2,
      ),
    ).toBe(210)
  })

  test('a try that was disturbed is not the last one', async () => {
    const took = [900, 500, 100]
    expect(await leastMs(200, () => took.shift() as number)).toBe(100)
  })
})

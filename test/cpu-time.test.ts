import { describe, expect, test } from 'vitest'
import { calmMs, leastMs, referenceMs } from './cpu-time.ts'

/** Some pieces of the fixed work in one turn, in milliseconds of the machine that limits are chosen on, or a slower one. */
function workOf(pieces: number, speed: number): number {
  let took = 0
  for (let done = 0; done < pieces; done++) took += referenceMs()
  return took * speed
}

describe('a limit of CPU time, however busy the machine is:', () => {
  // A faster machine would do the work within the limit.
  const speed = Math.max(1, calmMs / Math.min(referenceMs(), referenceMs(), referenceMs()))

  test('four pieces of work are over a limit of three', async () => {
    const limit = 3 * calmMs
    expect(
      await leastMs(
        limit,
        () => workOf(4, speed),
        () => referenceMs() * speed,
      ),
    ).toBeGreaterThan(limit)
  })

  test('two are not', async () => {
    const limit = 3 * calmMs
    expect(
      await leastMs(
        limit,
        () => workOf(2, speed),
        () => referenceMs() * speed,
      ),
    ).toBeLessThanOrEqual(limit)
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

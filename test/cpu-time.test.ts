import { describe, expect, test } from 'vitest'
import { calmMs, leastMs, referenceMs } from './cpu-time.ts'

/** As much work as takes so many milliseconds on a calm machine, in one turn. */
function workOf(ms: number): number {
  let took = 0
  for (let done = 0; done < ms; done += calmMs) took += referenceMs()
  return took
}

describe('a limit of CPU time, however busy the machine is:', () => {
  test('work of 170 ms is over a limit of 130', async () => {
    expect(await leastMs(130, () => workOf(170))).toBeGreaterThan(130)
  })

  test('work of 85 ms is not', async () => {
    expect(await leastMs(130, () => workOf(85))).toBeLessThanOrEqual(130)
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

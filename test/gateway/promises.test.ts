/** Each promise and each object costs time and memory in every request, and they add up unnoticed. */
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { Child } from '../bench/child.ts'
import { sampleOf, thorough } from '../long.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Objects per request. */
interface Allocations {
  readonly all: number
  readonly observing: number
}

/** A process for each scenario. */
const children = new Map<string, Child>()
afterAll(() => children.forEach((child) => child.stop()))

/** A process that has answered requests: the first ones look up the key and open the connection pool. */
async function warmed(scenario: string): Promise<Child> {
  const known = children.get(scenario)
  if (known !== undefined) return known
  const child = new Child('./in-process/pipeline.ts', [root, scenario])
  children.set(scenario, child)
  await child.ask('slice')
  return child
}

const scenarios = [
  { scenario: 'json', most: 28 },
  { scenario: 'sse50', most: 28 },
  { scenario: 'sse500', most: 28 },
  { scenario: 'json native', most: 28 },
  { scenario: 'json translated', most: 40 },
  { scenario: 'sse500 native', most: 28 },
]

test.each(sampleOf(scenarios, scenarios.length))(
  'a request of the scenario $scenario makes at most $most promises',
  async ({ scenario, most }) => {
    const { promises } = await (await warmed(scenario)).ask<{ promises: number }>('counts')
    expect(promises).toBeGreaterThan(3)
    expect(promises).toBeLessThanOrEqual(most)
  },
)

test.runIf(thorough).each(['json', 'sse50'])(
  'without telemetry and hooks, the code of both allocates nothing: %s',
  async (scenario) => {
    const allocated = async (variant: string) => (await warmed(variant)).ask<Allocations>('allocations')
    const off = await allocated(scenario)
    const on = await allocated(`${scenario} prometheus`)
    expect(off.all).toBeGreaterThan(50)
    expect(on.observing).toBeGreaterThan(5)
    expect(off.observing).toBe(0)
  },
)

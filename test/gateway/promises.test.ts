/** Each promise and each object costs time and memory in every request, and they add up unnoticed. */
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { Child } from '../bench/child.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

test.each([
  { scenario: 'json', most: 12 },
  { scenario: 'sse50', most: 16 },
  { scenario: 'sse500', most: 16 },
  { scenario: 'json native', most: 16 },
  { scenario: 'json translated', most: 18 },
  { scenario: 'sse500 native', most: 18 },
])('a request of the scenario $scenario makes at most $most promises', async ({ scenario, most }) => {
  const child = new Child('./in-process/pipeline.ts', [root, scenario])
  onTestFinished(() => child.stop())
  // The first requests look up the key and open the connection pool.
  await child.ask('slice')
  const { promises } = await child.ask<{ promises: number }>('counts')
  expect(promises).toBeGreaterThan(3)
  expect(promises).toBeLessThanOrEqual(most)
})

test.each(['json', 'sse50'])(
  'without telemetry and hooks, the code of both allocates nothing: %s',
  async (scenario) => {
    const allocated = async (variant: string) => {
      const child = new Child('./in-process/pipeline.ts', [root, scenario + variant])
      onTestFinished(() => child.stop())
      await child.ask('slice')
      return await child.ask<{ all: number; observing: number }>('allocations')
    }
    const off = await allocated('')
    const on = await allocated(' prometheus')
    expect(off.all).toBeGreaterThan(50)
    expect(on.observing).toBeGreaterThan(5)
    // The engine allocates an object now and then; an object of ours would be one in each request.
    expect(off.observing).toBeLessThan(0.1)
  },
)

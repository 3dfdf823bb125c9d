import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { long } from './long.ts'
import { LongestFirst } from './order.ts'

export default defineConfig({
  resolve: { conditions: ['modelhatch-source'] },
  ssr: { resolve: { conditions: ['modelhatch-source'] } },
  test: {
    dir: 'test',
    include: ['**/*.test.ts'],
    // Generous for busy machines; tests that hang still end.
    testTimeout: long ? 1_200_000 : 90_000,
    hookTimeout: 180_000,
    // The same for polled expectations.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // Tests that need isolation start processes themselves. More workers than cores, because many tests wait for sockets.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    maxWorkers: availableParallelism() + 2,
    // Processes that tests start share compiled code.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'modelhatch-compiled') },
  },
})

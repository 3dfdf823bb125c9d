import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { long } from './long.ts'

export default defineConfig({
  resolve: { conditions: ['modelhatch-source'] },
  ssr: { resolve: { conditions: ['modelhatch-source'] } },
  test: {
    dir: 'test',
    include: ['**/*.test.ts'],
    // Generous, as a busy machine takes several times as long; a test that hangs still ends.
    testTimeout: long ? 1_200_000 : 90_000,
    hookTimeout: 180_000,
    // The same for what is polled until it holds.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // What must not be shared runs in processes of its own. More workers than cores, as many tests wait for sockets.
    isolate: false,
    maxWorkers: availableParallelism() + 2,
    // Processes that tests start need not compile what others have compiled.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'modelhatch-compiled') },
  },
})

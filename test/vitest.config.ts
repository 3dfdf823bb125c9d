import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['modelhatch-source'] },
  ssr: { resolve: { conditions: ['modelhatch-source'] } },
  test: {
    dir: 'test',
    include: ['**/*.test.ts'],
    testTimeout: 15_000,
    hookTimeout: 30_000,
    pool: 'forks',
  },
})

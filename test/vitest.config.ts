import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { long, thorough } from './long.ts'
import { LongestFirst } from './order.ts'
import { sourceFlags } from './source-flags.ts'

/** What a plain `npm test` leaves to CI, unless it is named: browsers, processes and measurements that take seconds each. */
const slowest = [
  'adapters/console/{actions,keyboard,pages,reading,speed}',
  'adapters/hosts/{hostile-names,rolls,safety,slow-readers}',
  'adapters/stores/{flat,pglite,plans/plans,redis-cluster,redis-steps}',
  'adapters/ws/{hostile,unread}',
  'admission/idempotency/two-gateways',
  'chaos/{background,batches,caps}',
  'cpu-time',
  'endpoints/batches/large',
  'examples/{charging,coding-agents,custom-provider,custom-task-store,local-model}',
  'examples/{quick-start,saas,slack-bot,summaries,video-webhook,watching}',
  'gateway/released-bodies',
  'hostile/hostile',
  'makers/{clients,hostile}',
  'providers/anthropic/shapes',
  'providers/{closing,entries,features}',
  'routing/prompt-cache',
  'tasks/crash',
  'uploads/{large,mutants}',
].map((name) => `**/${name}.test.ts`)
const words = process.argv.slice(2).filter((word) => !/^-|^run$|^watch$|vitest\.config\.ts$/.test(word))
const isPlain = !thorough && words.length === 0

export default defineConfig({
  test: {
    // Node strips the types itself, which takes less than Vite's transform.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A large young generation from the start: the collections while it grows take a tenth of the CPU time.
    execArgv: [...sourceFlags, '--min-semi-space-size=16'],
    dir: 'test',
    include: ['**/*.test.ts'],
    exclude: isPlain ? slowest : [],
    // Generous for busy machines; tests that hang still end.
    testTimeout: long ? 1_200_000 : process.env['CI'] ? 300_000 : 90_000,
    hookTimeout: 180_000,
    // The same for polled expectations.
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    // Tests that need isolation start processes themselves. More workers than cores, because many tests wait for sockets.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    maxWorkers: availableParallelism() + 2,
    env: {
      // Processes that tests start share compiled code.
      NODE_COMPILE_CACHE: join(tmpdir(), 'modelhatch-compiled'),
      // Pages are left to CI too, wherever their tests are.
      ...(isPlain && { MODELHATCH_CHROMIUM: '' }),
    },
  },
})

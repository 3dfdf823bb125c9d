/** The task machinery from the options. */
import { publishTask } from '../observe.ts'
import type { GatewayOptions } from '../options.ts'
import type { Catalogue } from '../models/access.ts'
import { memoryTaskStore } from './memory.ts'
import { defaultTiming, type VideoDeployment } from './parts.ts'
import { StoreTime } from './store-time.ts'
import { VideoTasks } from './video-tasks.ts'

export function videoTasks(
  options: GatewayOptions,
  catalogue: Catalogue,
  clock: () => number,
  random: () => number,
): VideoTasks {
  const { store = memoryTaskStore(), deadlineMs = defaultTiming.deadlineMs, sweepMs = 1_000 } = options.tasks ?? {}
  const time = new StoreTime(store, clock)
  const tasks = new VideoTasks(
    {
      store,
      now: () => time.now(),
      async deployments(model) {
        const found = await catalogue.deployments(model)
        return found.flatMap(({ provider, model }): VideoDeployment[] =>
          provider.video === undefined ? [] : [{ provider: provider.name, model, video: provider.video }],
        )
      },
      publish: (event) => publishTask(event, options.hooks?.task),
      // The vendor is asked as often as the specification advises clients to ask us.
      intervalMs: (seconds) => (seconds <= 10 ? 5_000 : 15_000),
      timing: { ...defaultTiming, deadlineMs },
    },
    { everyMs: sweepMs, concurrency: 64, perProvider: 16, random },
  )
  // A store of one's own may hold tasks of an earlier process.
  if (options.tasks?.store !== undefined) tasks.start()
  return tasks
}

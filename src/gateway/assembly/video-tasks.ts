import type { Admission } from '../../admission/admission.ts'
import type { AlertDelivery } from '../../admission/alerts/delivery.ts'
import type { Ledger } from '../../money/ledger/contract.ts'
import type { Catalogue } from '../../models/catalogue.ts'
import type { Observer } from '../../observe/observe.ts'
import { publishTask } from '../../tasks/publish.ts'
import type { GatewayOptions } from '../options/options.ts'
import type { Guard } from '../../records/guard.ts'
import { guardedTasks } from './guarded-tasks.ts'
import { memoryTaskStore } from '../../tasks/memory.ts'
import { defaultTiming, type VideoDeployment } from '../../tasks/services.ts'
import { TaskBilling } from '../../endpoints/videos/billing.ts'
import { StoreTime } from '../../tasks/store-time.ts'
import { VideoTasks } from '../../tasks/video-tasks.ts'
import { deliver } from '../../tasks/webhook.ts'

export interface TaskSurroundings {
  readonly options: GatewayOptions
  readonly catalogue: Catalogue
  readonly admission: Admission
  readonly ledger: Ledger | undefined
  readonly clock: () => number
  readonly random: () => number
  readonly observer: Observer
  readonly alerts: AlertDelivery | undefined
  /** Makes the guard of a store. */
  readonly guard: (name: string) => Guard
}

/** Creates the video tasks of a gateway from its options. */
export function videoTasks({
  options,
  catalogue,
  admission,
  ledger,
  clock,
  random,
  observer,
  alerts,
  guard,
}: TaskSurroundings): VideoTasks {
  const { deadlineMs = defaultTiming.deadlineMs, sweepMs = 1_000, webhooks } = options.tasks ?? {}
  const given = options.storage?.tasks
  const store = given === undefined ? memoryTaskStore() : guardedTasks(given, guard('the task store'))
  const time = new StoreTime(store, clock)
  const tasks = new VideoTasks(
    {
      store,
      now: () => time.now(),
      async deployments(model) {
        const found = await catalogue.lookUp(model, clock())
        return (found?.deployments ?? []).flatMap(
          ({ provider, model: named, open = false, set }): VideoDeployment[] => {
            const { name, video, origin } = provider
            if (video === undefined) return []
            return [{ provider: name, origin, model: named, openModel: open, video, set: { ...set, ...found?.set } }]
          },
        )
      },
      billing: new TaskBilling({
        ledger,
        guard: guard('the ledger'),
        admission,
        catalogue,
        slackMs: 10 * 60_000,
        deliver(made, costs) {
          observer.receipt(made, costs)
          alerts?.start()
        },
      }),
      publish: (event) => publishTask(event, options.hooks?.task, observer),
      attempt: (attempt) => observer.attempt(attempt),
      ...(webhooks && { push: async (ended) => deliver(webhooks, ended, await time.now()) }),
      // The intervals that the specification recommends to clients for polling.
      intervalMs: (seconds) => (seconds <= 10 ? 5_000 : 15_000),
      timing: { ...defaultTiming, deadlineMs },
    },
    { everyMs: sweepMs, concurrency: 64, perProvider: 16, random, failed: observer.failed },
  )
  // A durable store may contain tasks of an earlier process.
  if (given !== undefined) tasks.start()
  return tasks
}

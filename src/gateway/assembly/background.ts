import type { DurableEnd } from '../../admission/ticket.ts'
import { BackgroundResponses } from '../../endpoints/responses/background.ts'
import type { Guard } from '../../records/guard.ts'
import type { ResponseStore } from '../../responses/contract.ts'
import { memoryTaskStore } from '../../tasks/memory.ts'
import { StoreTime } from '../../tasks/store-time.ts'
import { guardedTasks } from './guarded-tasks.ts'
import type { TaskSurroundings } from './video-tasks.ts'

interface Surroundings extends Pick<TaskSurroundings, 'options' | 'clock' | 'random' | 'observer' | 'guard'> {
  readonly responses: ResponseStore
  readonly settle: (end: DurableEnd) => Promise<void>
}

/** Ends holds of work that outlives its request, and records its use. May be called again for the same work. */
export function settling(
  { admission, ledger, alerts }: Pick<TaskSurroundings, 'admission' | 'ledger' | 'alerts'>,
  guard: Guard,
): (end: DurableEnd) => Promise<void> {
  return async ({ end, record }) => {
    if (end !== undefined && ledger !== undefined) {
      const { amount } = end
      await guard.call(() => (amount === undefined ? ledger.release(end) : ledger.settle({ ...end, amount })))
    }
    if (record !== undefined) admission.records?.add(record, true)
    alerts?.start()
  }
}

/** The responses in the background of a gateway. */
export function backgroundResponses({
  options,
  clock,
  random,
  observer,
  responses,
  guard,
  settle,
}: Surroundings): BackgroundResponses {
  const given = options.storage?.background
  const store =
    given === undefined ? memoryTaskStore() : guardedTasks(given, guard('the store of background responses'))
  const time = new StoreTime(store, clock)
  const { failed } = observer
  const background = new BackgroundResponses(
    {
      store,
      now: () => time.now(),
      responses,
      settle,
      maxBytes: (options.idempotency || {}).maxBytes ?? 4 * 1024 * 1024,
      observer,
    },
    { everyMs: options.tasks?.sweepMs ?? 1_000, quietMs: 60_000, concurrency: 64, perProvider: 64, random, failed },
  )
  // A durable store may contain responses of a process that has died.
  if (given !== undefined) background.start()
  return background
}

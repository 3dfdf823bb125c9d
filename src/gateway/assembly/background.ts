import type { Admission } from '../../admission/admission.ts'
import { BackgroundResponses } from '../../endpoints/responses/background.ts'
import type { Guard } from '../../records/guard.ts'
import type { ResponseStore } from '../../responses/contract.ts'
import { memoryTaskStore } from '../../tasks/memory.ts'
import { StoreTime } from '../../tasks/store-time.ts'
import { guardedTasks } from './guarded-tasks.ts'
import type { TaskSurroundings } from './video-tasks.ts'

interface Surroundings extends Omit<TaskSurroundings, 'catalogue'> {
  readonly admission: Admission
  readonly responses: ResponseStore
  readonly guard: (name: string) => Guard
}

/** The responses in the background of a gateway. */
export function backgroundResponses({
  options,
  admission,
  ledger,
  clock,
  random,
  observer,
  alerts,
  responses,
  guard,
}: Surroundings): BackgroundResponses {
  const given = options.storage?.background
  const store =
    given === undefined ? memoryTaskStore() : guardedTasks(given, guard('the store of background responses'))
  const time = new StoreTime(store, clock)
  const ledgerGuard = guard('the ledger')
  const background = new BackgroundResponses(
    {
      store,
      now: () => time.now(),
      responses,
      async settle({ end, record }) {
        if (end !== undefined && ledger !== undefined) {
          const { amount } = end
          await ledgerGuard.call(() => (amount === undefined ? ledger.release(end) : ledger.settle({ ...end, amount })))
        }
        if (record !== undefined) admission.records?.add(record)
        alerts?.start()
      },
      maxBytes: (options.idempotency || {}).maxBytes ?? 4 * 1024 * 1024,
      observer,
    },
    { everyMs: options.tasks?.sweepMs ?? 1_000, quietMs: 60_000, concurrency: 64, perProvider: 64, random },
  )
  // A durable store may contain responses of a process that has died.
  if (given !== undefined) background.start()
  return background
}

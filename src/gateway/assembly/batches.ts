import type { DurableEnd } from '../../admission/ticket.ts'
import { BatchBilling } from '../../endpoints/batches/billing.ts'
import { messageKind } from '../../endpoints/batches/messages/kind.ts'
import { MessageBatches } from '../../endpoints/batches/messages/message-batches.ts'
import { inBatches } from '../../models/batch-model.ts'
import type { Model } from '../../models/contract.ts'
import type { Guard } from '../../records/guard.ts'
import { StoreTime } from '../../tasks/store-time.ts'
import { guardedTasks } from './guarded-tasks.ts'
import type { TaskSurroundings } from './video-tasks.ts'

interface Surroundings extends TaskSurroundings {
  readonly guard: (name: string) => Guard
  readonly settle: (end: DurableEnd) => Promise<void>
}

/** The batches of a gateway; undefined without the option. Throws a `TypeError` if the storage cannot keep them. */
export function batchesFor(surroundings: Surroundings): MessageBatches | undefined {
  const { options, catalogue, admission, ledger, clock, random, observer, guard, settle } = surroundings
  if (options.batches !== true) return undefined
  const given = options.storage?.batches
  if (given === undefined) {
    throw new TypeError('batches: needs a storage that keeps them, such as sqlite() or postgres()')
  }
  const store = guardedTasks(given, guard('the store of batches'))
  const time = new StoreTime(store, clock)
  const batches = new MessageBatches(
    {
      kind: messageKind,
      store,
      now: () => time.now(),
      models: ({ createdAt, data: { models, provider, group } }) =>
        Promise.all(
          models.map(async ({ name, providerModel }): Promise<Model | undefined> => {
            const found = await catalogue.lookUp(name, createdAt, group)
            const model = found && inBatches(found)
            const served = model?.deployments.filter(
              (each) => each.provider.name === provider && each.model === providerModel,
            )
            return model && served && served.length > 0 ? { ...model, deployments: served } : undefined
          }),
        ),
      billing: new BatchBilling({ admission, ledger, guard: guard('the ledger'), settle }),
      deliver: ({ receipt, costs }) => observer.receipt(receipt, costs),
      observer,
    },
    { everyMs: options.tasks?.sweepMs ?? 1_000, concurrency: 16, perProvider: 8, random },
  )
  // The storage may contain batches of an earlier process.
  batches.start()
  return batches
}

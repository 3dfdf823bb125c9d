import type { DurableEnd } from '../../admission/ticket.ts'
import type { Batches } from '../../endpoints/batches/batches.ts'
import type { StoredBatch } from '../../endpoints/batches/batch-task.ts'
import { BatchBilling } from '../../endpoints/batches/billing.ts'
import { fileBatchEndpoints } from '../../endpoints/batches/files/endpoints.ts'
import { FileBatches } from '../../endpoints/batches/files/file-batches.ts'
import { fileKind } from '../../endpoints/batches/files/kind.ts'
import { messageBatchEndpoints } from '../../endpoints/batches/messages/endpoints.ts'
import { messageKind } from '../../endpoints/batches/messages/kind.ts'
import { MessageBatches } from '../../endpoints/batches/messages/message-batches.ts'
import type { BatchKind, BatchServices } from '../../endpoints/batches/services.ts'
import type { QueryEndpoint } from '../../endpoints/endpoint.ts'
import { fileEndpoints } from '../../endpoints/files/endpoints.ts'
import { Files } from '../../endpoints/files/files.ts'
import { inBatches, inFileBatches } from '../../models/batch-model.ts'
import type { Model } from '../../models/contract.ts'
import type { Guard } from '../../records/guard.ts'
import type { TaskStore } from '../../tasks/contract.ts'
import { StoredContent } from '../../tasks/files/stored-content.ts'
import { StoreTime } from '../../tasks/store-time.ts'
import type { SweeperOptions } from '../../tasks/sweeper.ts'
import type { BatchOptions } from '../options/options.ts'
import { guardedTasks } from './guarded-tasks.ts'
import type { TaskSurroundings } from './video-tasks.ts'

interface Surroundings extends TaskSurroundings {
  readonly settle: (end: DurableEnd) => Promise<void>
}

/** The batches of a gateway, and their endpoints. */
export interface AssembledBatches {
  readonly kinds: readonly Batches[]
  readonly endpoints: readonly QueryEndpoint[]
}

/** The most bytes that all files of an account may have. */
const accountBytes = 10 * 1024 ** 3

/** Empty without the option. Throws a `TypeError` if the storage cannot keep them. */
export function batchesFor(surroundings: Surroundings): AssembledBatches {
  const { options, guard } = surroundings
  const { batches: given = false } = options
  if (given === false) return { kinds: [], endpoints: [] }
  const store = guarded(options.storage?.batches, guard('the store of batches'))
  const messages = new MessageBatches(servicesOf(surroundings, messageKind, store), sweepingOf(surroundings))
  const more = given === true ? { kinds: [], endpoints: [] } : fileBatchesFor(surroundings, given)
  const kinds = [messages, ...more.kinds]
  // The storage may contain batches of an earlier process.
  for (const kind of kinds) kind.start()
  return { kinds, endpoints: [...messageBatchEndpoints(messages), ...more.endpoints] }
}

function fileBatchesFor(surroundings: Surroundings, given: BatchOptions): AssembledBatches {
  const { options, guard, clock } = surroundings
  const store = guarded(options.storage?.fileBatches, guard('the store of batches'))
  const known = guarded(options.storage?.files, guard('the store of files'))
  const time = new StoreTime(known, clock)
  const sweeping = sweepingOf(surroundings)
  const files = new Files(
    {
      store: known,
      content: new StoredContent(given.files),
      now: () => time.now(),
      accountBytes: given.accountBytes ?? accountBytes,
    },
    sweeping,
  )
  const batches = new FileBatches(servicesOf(surroundings, fileKind(files), store), sweeping, files)
  return { kinds: [batches], endpoints: [...fileBatchEndpoints(batches), ...fileEndpoints(files)] }
}

function guarded(given: TaskStore | undefined, guard: Guard): TaskStore {
  if (given !== undefined) return guardedTasks(given, guard)
  throw new TypeError('batches: needs a storage that keeps them, such as sqlite() or postgres()')
}

function sweepingOf({ options, random, observer: { failed } }: Surroundings): SweeperOptions {
  return { everyMs: options.tasks?.sweepMs ?? 1_000, concurrency: 16, perProvider: 8, random, failed }
}

function servicesOf(surroundings: Surroundings, kind: BatchKind, store: TaskStore): BatchServices {
  const { catalogue, admission, ledger, clock, observer, guard, settle } = surroundings
  const time = new StoreTime(store, clock)
  return {
    kind,
    store,
    now: () => time.now(),
    models: ({ createdAt, data: { models, provider, group, file } }: StoredBatch) =>
      Promise.all(
        models.map(async ({ name, providerModel }): Promise<Model | undefined> => {
          const found = await catalogue.lookUp(name, createdAt, group)
          const model = found && (file === undefined ? inBatches(found) : inFileBatches(found, file.endpoint))
          const served = model?.deployments.filter(
            (each) => each.provider.name === provider && each.model === providerModel,
          )
          return model && served && served.length > 0 ? { ...model, deployments: served } : undefined
        }),
      ),
    billing: new BatchBilling({ admission, ledger, guard: guard('the ledger'), settle }),
    deliver: ({ receipt, costs }) => observer.receipt(receipt, costs),
    observer,
  }
}

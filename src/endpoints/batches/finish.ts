/** The end of a batch: its requests are charged or released, one by one. May be repeated after a crash at any moment. */
import { GatewayError } from '../../errors.ts'
import type { Model } from '../../models/contract.ts'
import { mapConcurrently } from '../concurrency.ts'
import { changed } from '../../tasks/stored.ts'
import { countsOf, type BatchLine, type BatchTask, type StoredBatch } from './batch-task.ts'
import { decidedAt, save, timing, vendorOf, type BatchServices, type LineResult } from './services.ts'

/** Requests that are settled at the same time: stores join them into few statements. */
const atOnce = 64

/** Milliseconds that a refusal may take to be stored. */
const spareMs = 10_000

const never = new AbortController().signal

/** Charges a batch that has ended at the vendor, or releases one that has not begun. Requires the lease. */
export async function settle(
  services: BatchServices,
  batch: StoredBatch,
  renews: (batch: StoredBatch) => void,
): Promise<StoredBatch> {
  const { kind, billing } = services
  const { operation = '', empty } = batch.data
  if (empty === true) return released(services, batch)
  const { jobs: vendor } = await vendorOf(services, batch)
  const models = await modelsOf(services, batch)
  const lines = await kind.lines(batch)
  const reader = kind.reader(batch, lines, models)
  const open = new Set(lines.keys())
  let current = batch
  let results: LineResult[] = []
  const next = async () => {
    const some = results
    results = []
    await mapConcurrently(some, atOnce, never, async ({ index, receipt }) => {
      const line = lines[index] as BatchLine
      services.deliver(await billing.settle(current, line, models[line.m] as Model, receipt))
    })
    await reader.keep?.(some)
    current = await renewed(services, current)
    renews(current)
  }
  try {
    for await (const line of vendor.results(operation, { signal: never })) {
      const result = await reader.read(line)
      if (result === undefined || !open.delete(result.index)) continue
      results.push(result)
      if (results.length >= atOnce) await next()
    }
    for (const index of open) {
      results.push(reader.missing(index))
      if (results.length >= atOnce) await next()
    }
    await next()
    const kept = await reader.end?.()
    await billing.recorded()
    return await ended(services, current, kept ?? {})
  } catch (error) {
    reader.stop?.()
    throw error
  }
}

/** The models of a batch, all of which are needed to charge it. */
async function modelsOf(services: BatchServices, batch: StoredBatch): Promise<readonly Model[]> {
  const models = await services.models(batch)
  const gone = batch.data.models.find((_, index) => models[index] === undefined)
  if (gone !== undefined) throw new Error(`the model "${gone.id}" of the batch ${batch.id} is not configured any more`)
  return models as readonly Model[]
}

/** Ends a batch without results, and releases its holds. `expiresAt`: from when on it is not found. */
export async function finish(
  services: BatchServices,
  batch: StoredBatch,
  expiresAt: number = batch.expiresAt,
): Promise<StoredBatch> {
  const { size, cancelledAt, endedAt = await services.now() } = batch.data
  const counts = countsOf(size, cancelledAt === undefined ? 'errored' : 'canceled')
  const lease = (await services.now()) + timing.leaseMs
  const times = { expiresAt, dueAt: lease, leasedUntil: lease }
  // The end is stored before the holds are released: otherwise another process could submit the batch without holds.
  const saved = await save(services, changed(batch, { state: 'settling', endedAt, empty: true, counts }, times))
  return saved.won ? released(services, saved.task) : saved.task
}

async function released(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  await services.billing.release(batch, await services.kind.lines(batch))
  return ended(services, batch, {})
}

/** Ends a batch that the vendor has refused after it had accepted it: it made none of the requests. */
export function failed(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  const { attempt, provider, operation } = batch.data
  const error = new Error(`the provider "${provider}" has refused the batch ${operation}: see its errors at the vendor`)
  services.observer.failure({ id: attempt, error })
  return finish(services, batch)
}

/** Ends a batch that was not submitted, as if it had not been sent; but one of which a repeated request may be told stays. */
export async function refuse(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  const now = await services.now()
  const isTold = batch.data.state === 'submitting' && now > decidedAt(services, batch) - spareMs
  return finish(services, batch, isTold ? batch.expiresAt : now)
}

/** Ends a batch whose results cannot be got, although the vendor may charge for it. */
export function lost(services: BatchServices, batch: StoredBatch, cause: unknown): Promise<StoredBatch> {
  const { attempt, provider, operation = 'of unknown id' } = batch.data
  const message = `the batch ${operation} of the provider "${provider}" ended without results, and is not charged`
  services.observer.failure({ id: attempt, error: new Error(message, { cause }) })
  return finish(services, batch)
}

async function ended(services: BatchServices, batch: StoredBatch, data: Partial<BatchTask>): Promise<StoredBatch> {
  const { params: _, ...rest } = batch.data
  const endedAt = rest.endedAt ?? (await services.now())
  const next = { ...rest, ...data, state: 'ended', endedAt, faults: 0 } as const
  const saved = await save(services, { ...batch, version: batch.version + 1, dueAt: null, leasedUntil: 0, data: next })
  if (!saved.won) return saved.task
  await tidied(services, saved.task, services.kind.ended)
  if (services.kind.deletesAtEnd === true) await deleteAtVendor(services, saved.task)
  return saved.task
}

/** Lets go of what nobody needs. Where that fails, it takes room, and nothing else. */
export async function tidied(
  { observer }: Pick<BatchServices, 'observer'>,
  batch: StoredBatch,
  step: ((batch: StoredBatch) => Promise<void>) | undefined,
): Promise<void> {
  try {
    await step?.(batch)
  } catch (error) {
    observer.failure({ id: batch.data.attempt, error })
  }
}

/** Deletes what the vendor has of a batch, if it has it and can delete it. */
export async function deleteAtVendor(services: BatchServices, batch: StoredBatch): Promise<void> {
  await tidied(services, batch, async ({ data: { operation } }) => {
    if (operation === undefined) return
    try {
      const { jobs } = await vendorOf(services, batch)
      await jobs.delete?.(operation, { signal: AbortSignal.timeout(timing.checkMs) })
    } catch (error) {
      if (!(GatewayError.is(error) && error.code === 'not_found')) throw error
    }
  })
}

/** Renews the lease of a batch that takes long to settle. Throws if another process has it. */
async function renewed(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  const { leaseMs } = timing
  const now = await services.now()
  if (batch.leasedUntil - now > leaseMs / 2) return batch
  const saved = await save(services, changed(batch, {}, { leasedUntil: now + leaseMs }))
  if (!saved.won) throw new Error(`another process settles the batch ${batch.id}`)
  return saved.task
}

/**
 * Submission of a batch. The intent is stored before the vendor is called, and the outcome replaces it by compare-and-set. A
 * process that finds an intent whose lease has expired asks the vendor for the batch before it submits it again.
 */
import { ask, backoffMs, isPassing, wasNotBegun } from '../../tasks/services.ts'
import { changed } from '../../tasks/stored.ts'
import { vendorMs, type BatchTask, type StoredBatch } from './batch-task.ts'
import { finish, lost, tidied } from './finish.ts'
import { intentMs, intervalMs, save, timing, vendorOf, type BatchServices } from './services.ts'

/** Milliseconds by which holds outlast the time that vendors have for a batch. */
const slackMs = 6 * 3_600_000

/** Extends the holds of a stored batch until its results can be expected. */
export async function keep({ billing, kind }: BatchServices, batch: StoredBatch): Promise<void> {
  await billing.keep(batch, await kind.lines(batch), vendorMs + slackMs)
}

/** Submits a batch whose intent is leased to this process. Throws if the vendor certainly has not taken it. */
export async function submit(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  const { provider } = await vendorOf(services, batch)
  let operation: string
  try {
    operation = await ask(services.kind.startMs, (signal) => services.kind.submit(provider, batch, signal))
  } catch (error) {
    if (wasNotBegun(error)) throw error
    return unclear(services, batch, error)
  }
  return accepted(services, batch, operation)
}

/** Recovers an intent whose process did not finish the submission. Requires the lease, of `intentMs`. */
export async function recover(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  const { jobs: vendor } = await vendorOf(services, batch)
  const { attempt: token, size, cancelledAt, submittedAt = batch.createdAt } = batch.data
  if (vendor.lookup === undefined) return lost(services, batch, undefined)
  await keep(services, batch)
  const sought = { token, size, since: batch.createdAt, until: submittedAt + services.kind.startMs }
  const operation = await ask(services.kind.startMs, async (signal) => vendor.lookup?.(sought, { signal }))
  if (operation !== undefined) return accepted(services, batch, operation)
  const now = await services.now()
  if (cancelledAt !== undefined || now > batch.createdAt + timing.submitMs) return finish(services, batch)
  const again = await leased(services, batch, { submittedAt: now })
  if (!again.won) return again.task
  try {
    return await submit(services, again.task)
  } catch (error) {
    return isPassing(error) ? later(services, again.task, error) : lost(services, again.task, error)
  }
}

/** Takes the lease of an intent for as long as a lookup or a submission may take. */
export async function leased(
  services: BatchServices,
  batch: StoredBatch,
  data: Pick<BatchTask, 'submittedAt'> = {},
): ReturnType<typeof save> {
  const lease = (await services.now()) + intentMs(services)
  return save(services, changed(batch, data, { dueAt: lease, leasedUntil: lease }))
}

async function accepted(services: BatchServices, batch: StoredBatch, operation: string): Promise<StoredBatch> {
  const now = await services.now()
  const { params: _, ...data } = batch.data
  const isCancelled = data.cancelledAt !== undefined
  const record = { dueAt: isCancelled ? now : now + intervalMs(batch, now), leasedUntil: 0 }
  const next = {
    ...batch,
    ...record,
    version: batch.version + 1,
    data: { ...data, state: 'open', operation, acceptedAt: now, faults: 0 },
  }
  const saved = await save(services, next as StoredBatch)
  if (saved.won) await tidied(services, saved.task, services.kind.accepted)
  return saved.task
}

/** The vendor may have the batch: it is looked for once the vendor certainly lists it. */
async function unclear(services: BatchServices, batch: StoredBatch, error: unknown): Promise<StoredBatch> {
  const { jobs: vendor } = await vendorOf(services, batch)
  if (vendor.lookup === undefined) return lost(services, batch, error)
  const dueAt = (await services.now()) + timing.acceptMs
  return (await save(services, changed(batch, {}, { dueAt, leasedUntil: 0 }))).task
}

/** Schedules the next step after one that failed. */
export async function later(services: BatchServices, batch: StoredBatch, error: unknown): Promise<StoredBatch> {
  const faults = batch.data.faults + 1
  // A vendor that is down for a moment is none of the host's business.
  if (faults === 3) services.observer.failure({ id: batch.data.attempt, error })
  const dueAt = (await services.now()) + backoffMs(faults - 1, 5_000)
  return (await save(services, changed(batch, { faults }, { dueAt, leasedUntil: 0 }))).task
}

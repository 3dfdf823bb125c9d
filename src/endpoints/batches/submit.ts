/**
 * Submission of a batch. The intent is stored before the vendor is called, and the outcome replaces it by compare-and-set. A
 * process that finds an intent whose lease has expired asks the vendor for the batch before it submits it again.
 */
import { ask, backoffMs, wasNotBegun } from '../../tasks/services.ts'
import { changed, vendorId, vendorMs, type StoredBatch } from './batch-task.ts'
import { finish, lost, refuse } from './finish.ts'
import { intentMs, intervalMs, save, timing, vendorOf, type BatchServices } from './services.ts'

/** Milliseconds by which holds outlast the time that vendors have for a batch. */
const slackMs = 6 * 3_600_000

/** Extends the holds of a stored batch until its results can be expected. */
export function keep({ billing }: BatchServices, batch: StoredBatch): Promise<void> {
  return billing.keep(batch, vendorMs + slackMs)
}

/** Submits a batch whose intent is leased to this process. Throws the vendor's refusal; the batch has then ended. */
export async function submit(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  const { params = [], clientHeaders } = batch.data
  const vendor = await vendorOf(services, batch)
  const requests = params.map((each, index) => ({ id: vendorId(batch.data, index), params: each }))
  let operation: string
  try {
    operation = await ask(timing.startMs, (signal) =>
      vendor.create({ requests, signal, ...(clientHeaders && { clientHeaders }) }),
    )
  } catch (error) {
    if (!wasNotBegun(error)) return unclear(services, batch, error)
    await refuse(services, batch)
    throw error
  }
  return accepted(services, batch, operation)
}

/** Recovers an intent whose process did not finish the submission. Requires the lease. */
export async function recover(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  const vendor = await vendorOf(services, batch)
  const { attempt: token, lines, cancelledAt } = batch.data
  if (vendor.lookup === undefined) return lost(services, batch, undefined)
  await keep(services, batch)
  const sought = { token, size: lines.length, since: batch.createdAt }
  const operation = await ask(timing.checkMs, async (signal) => vendor.lookup?.(sought, { signal }))
  if (operation !== undefined) return accepted(services, batch, operation)
  const now = await services.now()
  if (cancelledAt !== undefined || now > batch.createdAt + timing.submitMs) return finish(services, batch)
  // Renews the lease: no other process may recover the intent before the vendor has responded.
  const lease = { dueAt: now + intentMs, leasedUntil: now + intentMs }
  const saved = await save(services, changed(batch, {}, lease))
  return saved.won ? submit(services, saved.batch) : saved.batch
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
    data: { ...data, state: 'open', operation, faults: 0 },
  }
  return (await save(services, next as StoredBatch)).batch
}

/** The vendor may have the batch: it is looked for once the vendor certainly lists it. */
async function unclear(services: BatchServices, batch: StoredBatch, error: unknown): Promise<StoredBatch> {
  const vendor = await vendorOf(services, batch)
  if (vendor.lookup === undefined) return lost(services, batch, error)
  const dueAt = (await services.now()) + timing.acceptMs
  return (await save(services, changed(batch, {}, { dueAt, leasedUntil: 0 }))).batch
}

/** Schedules the next step after one that failed. */
export async function later(services: BatchServices, batch: StoredBatch, error: unknown): Promise<StoredBatch> {
  const faults = batch.data.faults + 1
  // A vendor that is down for a moment is none of the host's business.
  if (faults === 3) services.observer.failure({ id: batch.data.attempt, error })
  const dueAt = (await services.now()) + backoffMs(faults - 1, 5_000)
  return (await save(services, changed(batch, { faults }, { dueAt, leasedUntil: 0 }))).batch
}

import { GatewayError } from '../../errors.ts'
import { soonOr } from '../../tasks/soon-or.ts'
import { ask } from '../../tasks/services.ts'
import { changed, leasedIfDue } from '../../tasks/stored.ts'
import type { StoredBatch } from './batch-task.ts'
import { failed, finish, lost, settle } from './finish.ts'
import { intervalMs, save, timing, vendorOf, type BatchServices } from './services.ts'
import { later, leased, recover } from './submit.ts'

/** Consecutive "unknown batch" responses after which a batch is lost: a single one may be an error of the vendor. */
const maxMisses = 3

/** Does the next step of a batch if it is due and no other process holds its lease, but does not wait long for the vendor. */
export async function advanceIfDue(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  const leased = await leasedIfDue(services, batch, timing.leaseMs, 'cancelledAt')
  return leased === undefined ? batch : soonOr(advance(services, leased), leased)
}

/** Does the next step of a batch whose lease this process holds. Returns the batch as stored afterwards. */
export async function advance(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  if (batch.data.state !== 'submitting') return step(services, batch)
  // A lookup may have to read many batches.
  const longer = await leased(services, batch)
  return longer.won ? step(services, longer.task) : longer.task
}

async function step(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  let current = batch
  try {
    // The process that read its requests has died, and their holds end by themselves.
    if (batch.data.state === 'preparing') return await finish(services, batch, await services.now())
    if (batch.data.state === 'submitting') return await recover(services, batch)
    return batch.data.state === 'open'
      ? await check(services, batch)
      : await settle(services, batch, (next) => (current = next))
  } catch (error) {
    const isUnknown = GatewayError.is(error) && error.code === 'not_found' && batch.data.faults + 1 >= maxMisses
    const isLate = (await services.now()) > batch.createdAt + timing.deadlineMs
    return isUnknown || isLate ? lost(services, current, error) : later(services, current, error)
  }
}

async function check(services: BatchServices, batch: StoredBatch): Promise<StoredBatch> {
  const { operation = '', cancelledAt, asked } = batch.data
  const { jobs: vendor } = await vendorOf(services, batch)
  const status = await ask(timing.checkMs, (signal) => vendor.retrieve(operation, { signal }))
  const { ended, counts } = status
  // Vendors refuse to cancel what has ended.
  if (!ended && cancelledAt !== undefined && asked !== true) {
    await ask(timing.checkMs, (signal) => vendor.cancel(operation, { signal }))
  }
  const now = await services.now()
  if (!ended && now > batch.createdAt + timing.deadlineMs) throw new Error('the batch has not ended in time')
  const seen = { counts, faults: 0, ...(cancelledAt !== undefined && { asked: true as const }) }
  if (!ended) {
    const dueAt = now + intervalMs(batch, now)
    return (await save(services, changed(batch, seen, { dueAt, leasedUntil: 0 }))).task
  }
  if (status.failed === true) return failed(services, { ...batch, data: { ...batch.data, ...seen, endedAt: now } })
  const end = { ...seen, state: 'settling', endedAt: now } as const
  const saved = await save(services, changed(batch, end, { dueAt: now, leasedUntil: now + timing.leaseMs }))
  return saved.won ? advance(services, saved.task) : saved.task
}

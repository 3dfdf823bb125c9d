/**
 * Batches. A task keeps each, its holds are those of its requests, and any process does the next step: after a crash at any moment
 * no batch is lost, and no request is charged twice.
 */
import { GatewayError, invalid } from '../../errors.ts'
import { cancellationOf } from '../../http/cancellation.ts'
import { decided, earlierTask, requireSame } from '../../tasks/insert.ts'
import { ownerOf, type TaskOwner } from '../../tasks/owner.ts'
import { wasNotBegun } from '../../tasks/services.ts'
import { changed, Tasks } from '../../tasks/stored.ts'
import type { SweeperOptions } from '../../tasks/sweeper.ts'
import type { Query } from '../endpoint.ts'
import { taskIdIn } from '../paging.ts'
import { advance, advanceIfDue } from './advance.ts'
import type { BatchTask, StoredBatch } from './batch-task.ts'
import { deleteAtVendor, refuse } from './finish.ts'
import { decidedAt, save, timing, type BatchServices } from './services.ts'
import { keep, submit } from './submit.ts'

/** The batches of all accounts, of one kind. */
export class Batches extends Tasks<BatchTask> {
  protected readonly services: BatchServices

  constructor(services: BatchServices, sweeping: SweeperOptions) {
    const { leaseMs } = timing
    const step = (batch: StoredBatch) => advance(services, batch)
    super(services, { noun: 'batches', leaseMs, step, worker: ({ provider }) => provider }, sweeping)
    this.services = services
  }

  /**
   * The batch that an earlier request with the same idempotency key has made, unless that was refused. Throws a 409 if that was
   * another request.
   */
  protected async repeated({ caller, exchange }: Query, id: string, digest: string): Promise<StoredBatch | undefined> {
    const present = await earlierTask<BatchTask>(this.services, caller.account, id)
    if (present === undefined) return undefined
    const until = (batch: StoredBatch) => {
      requireSame(batch, digest)
      return decidedAt(this.services, batch)
    }
    return decided(this.services, present, until, cancellationOf(exchange))
  }

  /** The same for a concurrent request that was stored first. Throws a 409 if it was refused. */
  protected async concurrent(query: Query, id: string, digest: string): Promise<StoredBatch> {
    const batch = await this.repeated(query, id, digest)
    if (batch === undefined || batch.data.state === 'preparing') throw stillPreparing()
    return batch
  }

  /** Submits a batch that is stored. Rejects if the vendor has not taken it: then it is as if it had not been sent. */
  protected async submitted(batch: StoredBatch): Promise<StoredBatch> {
    this.start()
    let isKept = false
    try {
      await keep(this.services, batch)
      isKept = true
      return await submit(this.services, batch)
    } catch (error) {
      // The vendor may have it, so that it is recovered.
      if (isKept && !wasNotBegun(error)) return batch
      await refuse(this.services, batch)
      throw error
    }
  }

  /** The account's batch, updated from the vendor if a check is due. Throws the same `not_found` for every reason. */
  async find(account: string, id: string): Promise<StoredBatch> {
    return advanceIfDue(this.services, await this.own(account, id))
  }

  /** Cancels what the vendor has not begun. A batch that has ended stays as it is. */
  async cancel(account: string, id: string): Promise<StoredBatch> {
    const { now } = this.services
    for (let batch = await this.own(account, id), tries = 0; tries < 5; tries++) {
      const { state, cancelledAt } = batch.data
      if (state === 'ended' || state === 'settling' || cancelledAt !== undefined) return batch
      const at = await now()
      const due = state === 'open' ? { dueAt: at } : {}
      const saved = await save(this.services, changed(batch, { cancelledAt: at }, due))
      batch = saved.task
      if (!saved.won) continue
      this.start()
      return advanceIfDue(this.services, batch)
    }
    throw busy()
  }

  /** Deletes a batch that has ended, at the vendor too if possible. Throws a 400 for one that has not. */
  async remove(account: string, id: string): Promise<void> {
    const batch = await this.own(account, id)
    if (batch.data.state !== 'ended') {
      throw invalid('A batch can be deleted once it has ended. Cancel it first.', 'id')
    }
    await deleteAtVendor(this.services, batch)
    const expiresAt = await this.services.now()
    if (!(await save(this.services, changed(batch, {}, { expiresAt }))).won) throw busy()
  }

  /** Removes every batch of an account, and cancels those that have not ended. */
  async removeAll(account: string): Promise<void> {
    await this.removeEach(account, async (batch) => {
      const at = await this.services.now()
      const isOver = batch.data.state === 'ended'
      if (isOver) await deleteAtVendor(this.services, batch)
      const times = { expiresAt: at, ...(batch.data.state === 'open' && { dueAt: at }) }
      await save(this.services, changed(batch, isOver ? {} : { cancelledAt: at }, times))
      this.start()
    })
  }

  /** Throws the same `not_found` for every reason. */
  protected async own(account: string, id: string): Promise<StoredBatch> {
    const batch = await this.stored(account, id)
    // Its client has not been told of it.
    if (batch === undefined || batch.data.state === 'preparing') throw noSuchBatch()
    return batch
  }
}

type Beginning = TaskOwner & Pick<BatchTask, 'digest' | 'attempt'>

/** What a batch has from the request that creates it. */
export function beginning({ id: attempt, caller, exchange, services }: Query, digest: string): Beginning {
  const attribution = services.attribute(exchange, caller, () => undefined)
  return { attempt, digest, ...ownerOf(caller, attribution) }
}

/** The same error for every batch that is not found. */
function noSuchBatch(): GatewayError {
  const message = 'No such batch. It does not exist, or it has expired after 30 days.'
  return new GatewayError('not_found', { message, param: 'id' })
}

/** The id in the path. Throws the 404 of every batch that is not found. */
export function batchIdIn(query: Query): string {
  return taskIdIn(query, noSuchBatch)
}

/** The error for a request whose idempotency key another one has, which is under way. */
export function stillPreparing(): GatewayError {
  const message = 'A batch with this Idempotency-Key is being created. Try again.'
  return new GatewayError('conflict', { message, retryAfterMs: 1_000, shouldRetry: true })
}

function busy(): GatewayError {
  return new GatewayError('conflict', { message: 'The batch is being worked on. Try again.' })
}

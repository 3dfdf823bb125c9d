/**
 * Batches. A task keeps each, its holds are those of its requests, and any process does the next step: after a crash at any moment
 * no batch is lost, and no request is charged twice.
 */
import { GatewayError, invalid } from '../../errors.ts'
import type { TaskListOptions } from '../../tasks/contract.ts'
import { earlierTask } from '../../tasks/insert.ts'
import { ownerOf, type TaskOwner } from '../../tasks/owner.ts'
import { wasNotBegun } from '../../tasks/services.ts'
import { soonOr } from '../../tasks/soon-or.ts'
import { Sweeper, type SweeperOptions } from '../../tasks/sweeper.ts'
import type { Query } from '../endpoint.ts'
import { advance, lease } from './advance.ts'
import { changed, fromRecord, type BatchTask, type StoredBatch } from './batch-task.ts'
import { deleteAtVendor, refuse, tidied } from './finish.ts'
import { save, timing, type BatchServices } from './services.ts'
import { keep, submit } from './submit.ts'

/** The batches of all accounts, of one kind. */
export class Batches {
  protected readonly services: BatchServices
  readonly #sweeper: Sweeper

  constructor(services: BatchServices, sweeping: SweeperOptions) {
    this.services = services
    const { store, now } = services
    const swept = { store, now, leaseMs: timing.leaseMs }
    this.#sweeper = new Sweeper(
      {
        ...swept,
        step: (task) => advance(services, fromRecord(task)),
        worker: (task) => fromRecord(task).data.provider,
      },
      sweeping,
    )
  }

  /** Advances batches from now on. */
  start(): void {
    this.#sweeper.start()
  }

  /** Waits for steps in progress. Another process, or the next start, continues the batches. */
  async close(): Promise<void> {
    await this.#sweeper.stop()
    await this.services.store.close?.()
  }

  /** The batch that an earlier request with the same idempotency key has made. Throws a 409 if that was another request. */
  protected async repeated(account: string, id: string, digest: string): Promise<StoredBatch | undefined> {
    const present = await earlierTask(this.services, account, id)
    return present && repetition(fromRecord(present), digest)
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
    const batch = await this.own(account, id)
    const leased = await lease(this.services, batch)
    return leased === undefined ? batch : soonOr(advance(this.services, leased), leased)
  }

  /** Throws a 404 if the store cannot list them. */
  async list(account: string, options: Omit<TaskListOptions, 'now'>): Promise<StoredBatch[]> {
    const { store, now } = this.services
    if (store.list === undefined) throw new GatewayError('not_found', { message: 'This server does not list batches.' })
    return (await store.list(account, { ...options, now: await now() })).map(fromRecord)
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
      batch = saved.batch
      if (!saved.won) continue
      this.start()
      const leased = await lease(this.services, batch)
      return leased === undefined ? batch : soonOr(advance(this.services, leased), leased)
    }
    throw busy()
  }

  /** Deletes a batch that has ended, at the vendor too if possible. Throws a 400 for one that has not. */
  async remove(account: string, id: string): Promise<void> {
    const batch = await this.own(account, id)
    if (batch.data.state !== 'ended') {
      throw invalid('A batch can be deleted once it has ended. Cancel it first.', 'id')
    }
    await tidied(this.services, batch, (each) => deleteAtVendor(this.services, each))
    const expiresAt = await this.services.now()
    if (!(await save(this.services, changed(batch, {}, { expiresAt }))).won) throw busy()
  }

  /** Removes every batch of an account, and cancels those that have not ended. */
  async removeAll(account: string): Promise<void> {
    const { store, now } = this.services
    for (;;) {
      const batches = (await store.list?.(account, { now: await now(), limit: 100, order: 'asc' })) ?? []
      if (batches.length === 0) return
      for (const record of batches) {
        const batch = fromRecord(record)
        const at = await now()
        const isOver = batch.data.state === 'ended'
        if (isOver) await tidied(this.services, batch, (each) => deleteAtVendor(this.services, each))
        const times = { expiresAt: at, ...(batch.data.state === 'open' && { dueAt: at }) }
        await save(this.services, changed(batch, isOver ? {} : { cancelledAt: at }, times))
      }
      this.start()
    }
  }

  /** Throws the same `not_found` for every reason. */
  protected async own(account: string, id: string): Promise<StoredBatch> {
    const record = await this.services.store.find(account, id, await this.services.now())
    const batch = record && fromRecord(record)
    // Its client has not been told of it.
    if (batch === undefined || batch.data.state === 'preparing') throw noSuchBatch()
    return batch
  }
}

type Beginning = TaskOwner & Pick<BatchTask, 'state' | 'digest' | 'attempt' | 'faults'>

/** What a batch has from the request that creates it. */
export function beginning({ id: attempt, caller, exchange, services }: Query, digest: string): Beginning {
  const owner = ownerOf(
    caller,
    services.attribute(exchange, caller, () => undefined),
  )
  return { state: 'submitting', digest, attempt, ...owner, faults: 0 }
}

/** The same error for every batch that is not found. */
export function noSuchBatch(): GatewayError {
  const message = 'No such batch. It does not exist, or it has expired after 30 days.'
  return new GatewayError('not_found', { message, param: 'id' })
}

function busy(): GatewayError {
  return new GatewayError('conflict', { message: 'The batch is being worked on. Try again.' })
}

/** The batch, unless it was made by another request. */
export function repetition(batch: StoredBatch, digest: string): StoredBatch {
  if (batch.data.digest === digest) return batch
  const message = 'This Idempotency-Key was used for another request. Use a new key for a new request.'
  throw new GatewayError('conflict', { message, shouldRetry: false })
}

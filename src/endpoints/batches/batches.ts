/**
 * Batches of messages. A task keeps each, its holds are those of its requests, and any process does the next step: after a crash at
 * any moment no batch is lost, and no request is charged twice.
 */
import { GatewayError, invalid } from '../../errors.ts'
import { byteStream } from '../../http/byte-stream.ts'
import type { Reply } from '../../http/exchange.ts'
import type { TaskListOptions } from '../../tasks/contract.ts'
import { wasNotBegun } from '../../tasks/services.ts'
import { soonOr } from '../../tasks/soon-or.ts'
import { Sweeper, type SweeperOptions } from '../../tasks/sweeper.ts'
import type { Query } from '../endpoint.ts'
import { messages } from '../messages/messages.ts'
import { advance, lease } from './advance.ts'
import { batchId, changed, fromRecord, lifeMs, lineId, toRecord, type StoredBatch } from './batch-task.ts'
import { refuse } from './finish.ts'
import { readyBatch, type GivenRequest } from './requests.ts'
import { begun, clientLines } from './result.ts'
import { intentMs, save, timing, vendorOf, type BatchServices } from './services.ts'
import { keep, submit } from './submit.ts'

/**
 * Milliseconds for which a batch is held before it is stored: long enough for another process to find the intent, but short,
 * because a process that dies before leaves holds that nothing releases earlier.
 */
const unstoredMs = intentMs + 60_000

/** A request for a batch. */
export interface GivenBatch {
  readonly requests: readonly GivenRequest[]
  /** SHA-256 of the request as received. */
  readonly digest: string
  /** A retry with the same key returns the same batch. */
  readonly idempotencyKey: string | undefined
}

/** The batches of all accounts. */
export class Batches {
  readonly #services: BatchServices
  readonly #sweeper: Sweeper

  constructor(services: BatchServices, sweeping: SweeperOptions) {
    this.#services = services
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
    await this.#services.store.close?.()
  }

  /** Submits a batch. Returns the new one, or the existing one with the same idempotency key. */
  async create(query: Query, given: GivenBatch): Promise<StoredBatch> {
    const { caller, catalogue, exchange } = query
    const { store, now, billing } = this.#services
    const { account, group, key, caps } = caller
    const { digest, idempotencyKey, requests } = given
    const id = batchId(account, idempotencyKey)
    const attempt = query.id
    if (idempotencyKey !== undefined) {
      const present = await store.find(account, id, await now())
      if (present !== undefined) return repetition(fromRecord(present), digest)
    }
    const ready = await readyBatch(query, requests, (line, order, model) =>
      billing.demand(lineId({ attempt }, line), caller, messages, order, model),
    )
    const { demands, params, ...known } = ready
    await query.admit(await catalogue.findForTask(known.models[0]?.name ?? '', caller))
    const held = await billing.hold(known.lines, demands, unstoredMs)
    const at = await now()
    const none = { processing: requests.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 }
    const batch: StoredBatch = {
      account,
      id,
      version: 1,
      createdAt: at,
      expiresAt: at + lifeMs,
      dueAt: at + intentMs,
      leasedUntil: at + intentMs,
      data: {
        state: 'submitting',
        digest,
        attempt,
        group,
        multiplier: String(demands[0]?.multiplier ?? 0),
        ...(key !== undefined && { key }),
        ...query.services.attribute(exchange, caller, () => undefined),
        ...(caller.user !== undefined && { userIsKnown: true }),
        ...(caps !== undefined && { callerCaps: caps }),
        counts: none,
        faults: 0,
        ...known,
        ...held,
        params,
      },
    }
    const stored = fromRecord(await store.insert(toRecord(batch)))
    if (stored.data.attempt !== attempt) {
      // A concurrent request with the same key was stored first.
      await billing.release(batch)
      return repetition(stored, digest)
    }
    this.start()
    let isKept = false
    try {
      await keep(this.#services, batch)
      isKept = true
      return await submit(this.#services, batch)
    } catch (error) {
      // The vendor may have it, so that it is recovered.
      if (isKept && !wasNotBegun(error)) return batch
      await refuse(this.#services, batch)
      throw error
    }
  }

  /** The account's batch, updated from the vendor if a check is due. Throws the same `not_found` for every reason. */
  async find(account: string, id: string): Promise<StoredBatch> {
    const batch = await this.#own(account, id)
    const leased = await lease(this.#services, batch)
    return leased === undefined ? batch : soonOr(advance(this.#services, leased), leased)
  }

  /** Throws a 404 if the store cannot list them. */
  async list(account: string, options: Omit<TaskListOptions, 'now'>): Promise<StoredBatch[]> {
    const { store, now } = this.#services
    if (store.list === undefined) throw new GatewayError('not_found', { message: 'This server does not list batches.' })
    return (await store.list(account, { ...options, now: await now() })).map(fromRecord)
  }

  /** Cancels what the vendor has not begun. A batch that has ended stays as it is. */
  async cancel(account: string, id: string): Promise<StoredBatch> {
    const { now } = this.#services
    for (let batch = await this.#own(account, id), tries = 0; tries < 5; tries++) {
      const { state, cancelledAt } = batch.data
      if (state === 'ended' || state === 'settling' || cancelledAt !== undefined) return batch
      const at = await now()
      const due = state === 'open' ? { dueAt: at } : {}
      const saved = await save(this.#services, changed(batch, { cancelledAt: at }, due))
      batch = saved.batch
      if (!saved.won) continue
      this.start()
      const leased = await lease(this.#services, batch)
      return leased === undefined ? batch : soonOr(advance(this.#services, leased), leased)
    }
    throw busy()
  }

  /** Deletes a batch that has ended, at the vendor too if possible. Throws a 400 for one that has not. */
  async remove(account: string, id: string): Promise<void> {
    const batch = await this.#own(account, id)
    if (batch.data.state !== 'ended') {
      throw invalid('A batch can be deleted once it has ended. Cancel it first.', 'id')
    }
    await this.#deleteAtVendor(batch)
    const expiresAt = await this.#services.now()
    if (!(await save(this.#services, changed(batch, {}, { expiresAt }))).won) throw busy()
  }

  /** Removes every batch of an account, and cancels those that have not ended. */
  async removeAll(account: string): Promise<void> {
    const { store, now } = this.#services
    for (;;) {
      const batches = (await store.list?.(account, { now: await now(), limit: 100, order: 'asc' })) ?? []
      if (batches.length === 0) return
      for (const record of batches) {
        const batch = fromRecord(record)
        const at = await now()
        const isOver = batch.data.state === 'ended'
        if (isOver) await this.#deleteAtVendor(batch)
        const times = { expiresAt: at, ...(batch.data.state === 'open' && { dueAt: at }) }
        await save(this.#services, changed(batch, isOver ? {} : { cancelledAt: at }, times))
      }
      this.start()
    }
  }

  /** The results of a batch, as JSON lines. Throws a 400 for one that has not ended, a 404 if they are not kept any more. */
  async results(account: string, id: string, { signal, stallMs }: Reader): Promise<Reply> {
    const batch = await this.#own(account, id)
    const { state, operation = '', empty } = batch.data
    if (state !== 'ended') throw invalid('The batch has not ended: it has no results yet.', 'id')
    const source = empty === true ? undefined : (await vendorOf(this.#services, batch)).results(operation, { signal })
    const headers = { 'content-type': 'application/x-jsonl' }
    return { status: 200, headers, body: byteStream(await begun(clientLines(batch, source)), stallMs) }
  }

  async #deleteAtVendor(batch: StoredBatch): Promise<void> {
    const { operation } = batch.data
    if (operation === undefined) return
    try {
      await (await vendorOf(this.#services, batch)).delete?.(operation, { signal: AbortSignal.timeout(timing.checkMs) })
    } catch (error) {
      if (!(GatewayError.is(error) && error.code === 'not_found')) {
        this.#services.observer.failure({ id: batch.data.attempt, error })
      }
    }
  }

  async #own(account: string, id: string): Promise<StoredBatch> {
    const record = await this.#services.store.find(account, id, await this.#services.now())
    if (record === undefined) throw noSuchBatch()
    return fromRecord(record)
  }
}

/** Who reads results. */
export interface Reader {
  readonly signal: AbortSignal
  /** See `EndpointServices.stallMs`. */
  readonly stallMs: number
}

/** The same error for every batch that is not found. */
export function noSuchBatch(): GatewayError {
  const message = 'No such batch. It does not exist, or it has expired after 30 days.'
  return new GatewayError('not_found', { message, param: 'id' })
}

function busy(): GatewayError {
  return new GatewayError('conflict', { message: 'The batch is being worked on. Try again.' })
}

function repetition(batch: StoredBatch, digest: string): StoredBatch {
  if (batch.data.digest === digest) return batch
  const message = 'This Idempotency-Key was used for another request. Use a new key for a new request.'
  throw new GatewayError('conflict', { message, shouldRetry: false })
}

/**
 * Responses in the background. A task keeps the state of each, and who makes it: the end is stored with what it costs in one step,
 * and any process can then store the response and settle the cost. A process that dies leaves a task whose lease expires: the
 * response has then failed, and its hold is released.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { onceThere } from '../../admission/idempotency/rest-once-ended.ts'
import type { DurableEnd } from '../../admission/ticket.ts'
import { GatewayError, invalid } from '../../errors.ts'
import type { Reply } from '../../http/exchange.ts'
import { doneFrame, eventFrame, sseHeaders } from '../../http/sse.ts'
import type { Observer } from '../../observe/observe.ts'
import type { ResponseStore } from '../../responses/contract.ts'
import { fromRecord, Tasks, toRecord, type TaskKeeping } from '../../tasks/stored.ts'
import type { SweeperOptions } from '../../tasks/sweeper.ts'
import type { ResponseObject } from '../../wire/responses.ts'
import { ResponseArchive, type Continued, type StoredResponse } from './archive.ts'
import { BackgroundJob, positionAfterNumber } from './background-job.ts'
import {
  decoded,
  encoded,
  isOver,
  leaseMs,
  lifeMs,
  nextOf,
  renewMs,
  streamMs,
  type BackgroundEnd,
  type BackgroundTask,
  type StoredJob,
} from './background-task.ts'

/** What responses in the background depend on. */
export interface BackgroundServices extends TaskKeeping {
  readonly responses: ResponseStore
  /** Ends a hold and records the use. May be called again for the same one. */
  readonly settle: (end: DurableEnd) => Promise<void>
  /** The most bytes of events that are kept of a response. */
  readonly maxBytes: number
  readonly observer: Observer
}

const stopped = {
  code: 'server_error',
  message: 'The server that made this response has stopped. Send the request again.',
}

/** The responses in the background of all accounts. */
export class BackgroundResponses extends Tasks<BackgroundTask> {
  readonly #services: BackgroundServices
  /** Those of this process, by account and id. */
  readonly #jobs = new Map<string, BackgroundJob>()
  readonly #ending = new Set<Promise<unknown>>()
  /** Aborted at shutdown. */
  readonly #closing = new AbortController()

  constructor(services: BackgroundServices, sweeping: SweeperOptions) {
    const step = (task: StoredJob) => this.#advance(task)
    super(services, { noun: 'responses', leaseMs, step, worker: () => '' }, sweeping)
    this.#services = services
  }

  /** Waits until the responses that have ended are stored. */
  override async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#ending)
    await super.close()
  }

  /** Stores a response as queued, and that this process makes it. `attempt`: the id of the request. */
  async begin({ account, attempt, queued, continued }: Beginning): Promise<BackgroundJob> {
    const { store, now, maxBytes } = this.#services
    const { response } = queued
    await this.#archive(account).put(queued, [])
    const at = await now()
    const lease = { dueAt: at + leaseMs, leasedUntil: at + leaseMs, expiresAt: at + lifeMs }
    const task = { account, id: response.id, version: 1, createdAt: at, ...lease, data: { attempt } }
    await store.insert(toRecord(task))
    this.start()
    const settings = { maxBytes, continued }
    const job = new BackgroundJob(response, task, settings, (ended) => this.#finish(ended, renewing))
    const place = placeOf(task)
    this.#jobs.set(place, job)
    const renewing = setInterval(() => this.#track(this.#renew(job)), renewMs)
    renewing.unref()
    return job
  }

  /** A stored response as it is now: one that was stored as queued may be in progress, or have ended meanwhile. */
  async current(account: string, stored: StoredResponse): Promise<StoredResponse> {
    const { response } = stored
    if (response.object !== 'response' || !isOpen(response)) return stored
    const task = await this.stored(account, response.id)
    const { end, cancelled } = task?.data ?? {}
    if (end !== undefined) return { ...stored, response: end.response }
    // Its process may have died.
    if (task !== undefined && task.leasedUntil <= (await this.#services.now())) this.start()
    if (task === undefined) return { ...stored, response: isOver(response, stopped) }
    return { ...stored, response: cancelled === true ? isOver(response) : { ...response, status: 'in_progress' } }
  }

  /** Cancels a response. Returns it as it is then. One that has ended stays as it is. */
  async cancel(account: string, stored: StoredResponse): Promise<StoredResponse> {
    await this.#change(account, stored.response.id, { cancelled: true })
    return this.current(account, stored)
  }

  /** A response is deleted: cancels it, and does not store it at its end. */
  async remove(account: string, id: string): Promise<void> {
    await this.#change(account, id, { cancelled: true, removed: true })
  }

  /** Removes every response of an account. */
  async removeAll(account: string): Promise<void> {
    await this.removeEach(account, ({ id }) => this.remove(account, id))
  }

  /**
   * The events of a response after a sequence number: as they come if this process makes it, otherwise when it has ended. Throws a
   * 400 if they are not kept.
   */
  async follow(account: string, response: ResponseObject, number: number, client: Follower): Promise<Reply> {
    const live = this.#jobs.get(placeOf({ account, id: response.id }))?.follow(number)
    if (live !== undefined) return live
    const rest = async () => {
      const task = await this.stored(account, response.id)
      if (task === undefined) return undefined
      const { end } = task.data
      return end === undefined ? ('running' as const) : restOf(end, number)
    }
    const first = await rest()
    if (first === undefined)
      throw invalid('The events of this response are not kept any more. Retrieve it without "stream".')
    if (first !== 'running') return { status: 200, headers: sseHeaders, body: first }
    const { observer } = this.#services
    return onceThere({ id: client.id, client: client.signal, closing: this.#closing.signal, observer }, rest)
  }

  #archive(account: string, conversation?: BackgroundEnd['conversation']): ResponseArchive {
    return new ResponseArchive(this.#services.responses, account, { isStored: true, memory: undefined, conversation })
  }

  /** Stores the next version of a task: whether no other process has changed it meanwhile. */
  #replace(next: StoredJob): Promise<boolean> {
    return this.#services.store.replace(toRecord(next))
  }

  /** The task as it is stored, also if it has expired. */
  async #latest({ account, id }: StoredJob): Promise<StoredJob | undefined> {
    const found = await this.#services.store.find(account, id, 0)
    return found && fromRecord(found)
  }

  /** Changes a response that has not ended, or whose deletion is asked for. Its process learns of it when it renews its lease. */
  async #change(
    account: string,
    id: string,
    change: { readonly cancelled: true; readonly removed?: true },
  ): Promise<void> {
    for (let task = await this.stored(account, id); task !== undefined; task = await this.stored(account, id)) {
      if (task.data.end !== undefined && change.removed !== true) return
      const next = nextOf(task, change, change.removed === true ? { expiresAt: await this.#services.now() } : {})
      if (!(await this.#replace(next))) continue
      const job = this.#jobs.get(placeOf(task))
      if (job === undefined) return
      job.task = next
      return job.cancellation.abort(new GatewayError('client_closed'))
    }
  }

  async #renew(job: BackgroundJob): Promise<void> {
    const at = await this.#services.now()
    const { task } = job
    const next = nextOf(task, {}, { dueAt: at + leaseMs, leasedUntil: at + leaseMs, expiresAt: at + lifeMs })
    if (await this.#replace(next)) job.task = next
    else if (job.task === task) {
      const found = await this.#latest(task)
      if (found !== undefined) job.task = found
      const { end, cancelled } = found === undefined ? { end: true, cancelled: undefined } : found.data
      // Cancelled elsewhere, or taken for dead.
      if (end !== undefined || cancelled === true) job.cancellation.abort(new GatewayError('client_closed'))
    }
  }

  #track(work: Promise<unknown>): void {
    const tracked: Promise<unknown> = work.catch(() => undefined).finally(() => this.#ending.delete(tracked))
    this.#ending.add(tracked)
  }

  /** Stores the end of a response: whether this process did. */
  #finish(job: BackgroundJob, renewing: NodeJS.Timeout): Promise<boolean> {
    clearInterval(renewing)
    const finishing = this.#store(job).finally(() => this.#jobs.delete(placeOf(job.task)))
    this.#track(finishing)
    return finishing
  }

  async #store(job: BackgroundJob): Promise<boolean> {
    const { now, observer } = this.#services
    for (let tries = 0; tries < leaseMs / renewMs; tries++) {
      try {
        const found = await this.#latest(job.task)
        if (found === undefined || found.data.end !== undefined) return false
        const at = await now()
        const times = { dueAt: at, leasedUntil: at + leaseMs, expiresAt: at + streamMs }
        const next = nextOf(found, { end: job.ended(found.data) }, times)
        if (!(await this.#replace(next))) continue
        await this.#settle(next)
        return true
      } catch (error) {
        observer.failure({ id: job.task.id, error })
        await pause(renewMs, undefined, { ref: false })
      }
    }
    return false
  }

  /** Does the next step of a task whose lease has expired. */
  async #advance(task: StoredJob): Promise<void> {
    const { account, id, data } = task
    const { attempt, end, cancelled } = data
    if (end !== undefined) return this.#settle(task)
    const stored = await this.#archive(account).find(id)
    const response = { id, ...stored?.response } as ResponseObject
    const at = await this.#services.now()
    const failed: BackgroundEnd = {
      response: isOver(response, cancelled === true ? undefined : stopped),
      earlier: stored?.input.length ?? 0,
      charge: encoded({ end: { id: attempt, account } }),
    }
    const next = nextOf(task, { end: failed }, { dueAt: at, leasedUntil: at + leaseMs, expiresAt: at + streamMs })
    if (await this.#replace(next)) await this.#settle(next)
  }

  /** Stores a response that has ended, and ends its hold. If that fails, it is tried again when the lease has expired. */
  async #settle(task: StoredJob): Promise<void> {
    const { end, removed } = task.data
    if (end === undefined) return
    const { charge, ...rest } = end
    try {
      const archive = this.#archive(task.account, end.conversation)
      const queued = await archive.find(task.id)
      if (queued !== undefined && removed === true) await archive.delete(task.id)
      else if (queued !== undefined) {
        await archive.put({ input: queued.input, response: end.response }, queued.input.slice(end.earlier))
      }
      if (charge !== undefined) await this.#services.settle(decoded(charge))
      await this.#replace(nextOf(task, { end: rest }, { dueAt: null, leasedUntil: 0 }))
    } catch (error) {
      this.#services.observer.failure({ id: task.id, error })
      this.start()
    }
  }
}

/** A response that begins. */
export interface Beginning {
  readonly account: string
  readonly attempt: string
  readonly queued: StoredResponse & { readonly response: ResponseObject }
  readonly continued: Continued | undefined
}

/** Who follows a stream. */
export interface Follower {
  /** Of the request. */
  readonly id: string
  readonly signal: AbortSignal
}

function isOpen({ status }: ResponseObject): boolean {
  return status === 'queued' || status === 'in_progress'
}

function placeOf({ account, id }: Pick<StoredJob, 'account' | 'id'>): string {
  return JSON.stringify([account, id])
}

/** The events after a number. A response whose process has died has none but its last. */
function restOf({ response, events }: BackgroundEnd, number: number): Uint8Array | undefined {
  if (events !== undefined) {
    const bytes = Buffer.from(events)
    return bytes.subarray(positionAfterNumber(bytes, number))
  }
  if (response.status !== 'failed') return undefined
  const type = 'response.failed'
  return Buffer.from(eventFrame(type, { type, sequence_number: number + 1, response }) + doneFrame)
}

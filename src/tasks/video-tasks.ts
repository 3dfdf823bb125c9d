import type { Caller } from '../callers/contract.ts'
import { GatewayError, refusedValue } from '../errors.ts'
import type { Cancellation } from '../http/cancellation.ts'
import { pause } from '../http/deadline.ts'
import type { CallWatch } from '../observe/watch.ts'
import type { VideoContent } from '../providers/video.ts'
import type { VideoRequest } from '../wire/video.ts'
import type { Attribution } from '../observe/usage/attribution.ts'
import { advance, lease } from './advance.ts'
import type { TaskSearch } from './contract.ts'
import { decided, decisionMs, earlierTask, insertTask, requireSame, taskId } from './insert.ts'
import { ownerOf } from './owner.ts'
import { soonOr } from './soon-or.ts'
import { isPassing, save, deploymentOf, type TaskServices, type VideoDeployment } from './services.ts'
import { intentLeaseMs, keepOrFail, submit, unstoredMs } from './submit.ts'
import { Tasks } from './stored.ts'
import type { SweeperOptions } from './sweeper.ts'
import { deletedAt, isFinal, type StoredTask, type VideoTask } from './task.ts'

/** A request about a task. */
export interface TaskRequest {
  /** Called with the id of the task's usage record, as soon as the task is known. */
  readonly concerns?: (record: string) => void
  /** Undefined if the request is not observed. */
  readonly watch?: CallWatch | undefined
}

/** A request to make a video. */
export interface Submission extends TaskRequest {
  /** The request id. */
  readonly id: string
  readonly caller: Caller
  readonly attribution?: Attribution
  readonly request: VideoRequest
  /** See `VideoTask.path`. */
  readonly path?: 'generations' | undefined
  /** SHA-256 of the request as received. */
  readonly digest: string
  /** A retry with the same key returns the same task. At most 255 characters. */
  readonly idempotencyKey?: string | undefined
  /** Aborted when the client disconnects. */
  readonly client: Cancellation
}

/** The operations of the video endpoints on tasks. */
export class VideoTasks extends Tasks<VideoTask> {
  readonly #services: TaskServices

  constructor(services: TaskServices, sweeping: SweeperOptions) {
    const { leaseMs } = services.timing
    const step = (task: StoredTask) => advance(services, task)
    super(services, { noun: 'tasks', leaseMs, step, worker: ({ provider = '' }) => provider }, sweeping)
    this.#services = services
  }

  /** Processes all tasks that are due now. Resolves when they are done. */
  async sweep(): Promise<void> {
    await this.sweeper.sweep()
  }

  /** Submits a video. Returns the new task, or the existing one with the same idempotency key. */
  async create(submission: Submission): Promise<StoredTask> {
    const { caller, idempotencyKey, watch } = submission
    const id = taskId('video_', caller.account, 'videos', idempotencyKey)
    const earlier =
      idempotencyKey === undefined ? undefined : await earlierTask<VideoTask>(this.#services, caller.account, id)
    if (earlier !== undefined && !(await this.#forgotten(earlier))) return this.#repeated(earlier, submission)
    const deployments = await this.#services.deployments(submission.request.model)
    const first = deployments[0]
    if (first === undefined) {
      throw refusedValue('This model does not make videos.', 'model')
    }
    const now = await this.#services.now()
    const intent = this.#intent(submission, id, now, first)
    const held = await this.#services.billing.hold(intent, unstoredMs(this.#services, first.video))
    const paid: StoredTask = { ...intent, data: { ...intent.data, ...held } }
    const stored = await insertTask(this.#services, paid)
    if (stored.data.attempt !== paid.data.attempt) {
      // A concurrent submission with the same key was stored first: release the hold of this one.
      await this.#services.billing.end({ ...paid, data: { ...paid.data, state: 'failed' } })
      return this.#repeated(stored, submission)
    }
    tell(submission, stored)
    this.start()
    this.#services.publish({ type: 'created', task: stored })
    await keepOrFail(this.#services, stored)
    return submit(within(this.#services, watch), stored, deployments)
  }

  /** The account's task, updated from the vendor if a check is due. Throws the same `not_found` for every reason. */
  async find(account: string, id: string, request: TaskRequest = {}): Promise<StoredTask> {
    const task = await this.#own(account, id)
    tell(request, task)
    if (isFinal(task.data)) return task
    const leased = await lease(this.#services, task)
    if (leased === undefined) return task
    return soonOr(advance(within(this.#services, request.watch), leased), leased)
  }

  /** Waits until the task is final, but at most `ms`. */
  async wait(task: StoredTask, ms: number, signal: AbortSignal): Promise<StoredTask> {
    const end = (await this.#services.now()) + ms
    let current = task
    while (!isFinal(current.data) && !signal.aborted) {
      const now = await this.#services.now()
      if (now >= end) break
      await pause(Math.min(Math.max((current.dueAt ?? now) - now, 50), end - now, 1_000), signal)
      current = await this.find(task.account, task.id)
    }
    return current
  }

  /** Whether the store can list the tasks of all accounts. */
  get isSearchable(): boolean {
    return this.#services.store.search !== undefined
  }

  /** Tasks of all accounts, newest first. Throws a 404 if the store cannot list them. */
  async search(options: Omit<TaskSearch, 'now'>): Promise<StoredTask[]> {
    const { store } = this.#services
    if (store.search === undefined) throw this.unlisted()
    return this.pages(
      options,
      async (page) => (await store.search?.(page)) ?? [],
      (task) => task,
    )
  }

  /** How many tasks are due, up to `most`. Undefined if the store cannot count them. */
  async countDue(most: number): Promise<number | undefined> {
    const { store } = this.#services
    return store.countDue?.(await this.#services.now(), most)
  }

  /** The bytes of a finished video, if the provider serves them; undefined if the video has a URL instead. */
  async content(task: StoredTask, signal: AbortSignal, range: string | undefined): Promise<VideoContent | undefined> {
    const deployment = await deploymentOf(this.#services, task.data)
    const context = { signal, ...(range !== undefined && { range }) }
    return deployment?.video.content?.(task.data.operation ?? null, context)
  }

  /**
   * Deletes the task's id, and asks the vendor to cancel its job. A job that the vendor has accepted is followed until it
   * ends, because the vendor may charge for it all the same.
   */
  async remove(account: string, id: string, request: TaskRequest = {}): Promise<StoredTask> {
    let task = await this.#own(account, id)
    tell(request, task)
    const services = within(this.#services, request.watch)
    for (let tries = 0; tries < 5; tries++) {
      const now = await this.#services.now()
      if (task.expiresAt <= now) throw noSuchTask()
      const { won, task: stored } = await save(services, deletedAt(now, task))
      task = stored
      if (!won) continue
      if (isFinal(task.data) || task.data.state === 'submitting') return task
      this.start()
      const leased = await lease(services, task)
      return leased === undefined ? task : soonOr(advance(services, leased), leased)
    }
    throw new GatewayError('conflict', { message: 'The task is being worked on. Try again.' })
  }

  /** Removes every task of the account. Returns until when the store keeps some of them; 0 if it keeps none. */
  async removeAll(account: string): Promise<number> {
    const { store, timing } = this.#services
    if (store.list === undefined) return (await this.#services.now()) + timing.lifeMs
    let until = 0
    await this.removeEach(account, async ({ id }) => {
      try {
        const { data } = await this.remove(account, id)
        if (!isFinal(data)) until = Math.max(until, data.deadlineAt)
      } catch (error) {
        // It has expired, or its owner has deleted it meanwhile.
        if (!(GatewayError.is(error) && error.code === 'not_found')) throw error
      }
    })
    return until
  }

  async #own(account: string, id: string): Promise<StoredTask> {
    const task = await this.stored(account, id)
    if (task === undefined) throw noSuchTask()
    return task
  }

  /** Whether a repeated request runs again: the earlier one was refused for a reason that may have passed. */
  async #forgotten(task: StoredTask): Promise<boolean> {
    if (task.data.refusal === undefined || task.dueAt !== null || !isPassing(refusalOf(task.data.refusal))) return false
    await save(this.#services, { ...task, version: task.version + 1, expiresAt: await this.#services.now() })
    return true
  }

  /** The task of an earlier request with the same key, or the refusal that this got. Throws a 409 if that was another request. */
  async #repeated(task: StoredTask, submission: Submission): Promise<StoredTask> {
    const until = (current: StoredTask) => {
      requireSame(current, submission.digest)
      return current.data.state === 'submitting' ? current.createdAt + decisionMs : 0
    }
    return repetition((await decided(this.#services, task, until, submission.client)) ?? task, submission)
  }

  #intent(
    { id: attempt, caller, attribution = {}, request, path, digest, watch }: Submission,
    id: string,
    now: number,
    { provider, model: providerModel, video }: VideoDeployment,
  ): StoredTask {
    const { lifeMs, deadlineMs } = this.#services.timing
    const leaseMs = intentLeaseMs(this.#services, video)
    const trace = watch?.traceparent
    return {
      account: caller.account,
      id,
      version: 0,
      createdAt: now,
      expiresAt: now + lifeMs,
      dueAt: now + leaseMs,
      leasedUntil: now + leaseMs,
      data: {
        state: 'submitting',
        request,
        ...(path !== undefined && { path }),
        digest,
        attempt,
        provider,
        providerModel,
        ...ownerOf(caller, attribution),
        ...(trace !== undefined && { trace }),
        deadlineAt: now + Math.min(deadlineMs, lifeMs),
        misses: 0,
        faults: 0,
        settled: false,
      },
    }
  }
}

/** The services with which a request works on a task: calls to the vendor belong to the request. */
function within(services: TaskServices, watch: CallWatch | undefined): TaskServices {
  return watch === undefined ? services : { ...services, attempt: (attempt) => watch.attempt(attempt) }
}

function tell({ concerns, watch }: TaskRequest, task: StoredTask): void {
  concerns?.(task.data.attempt)
  watch?.task({ id: task.id, traceparent: task.data.trace })
}

export function noSuchTask(): GatewayError {
  return new GatewayError('not_found', {
    message: 'No such video task. It does not exist, or it has expired after 24 hours.',
    param: 'id',
  })
}

function repetition(task: StoredTask, submission: Submission): StoredTask {
  const { refusal, removed } = task.data
  if (removed !== undefined) {
    const message = 'This Idempotency-Key was used for a video that was deleted. Use a new key for a new request.'
    throw new GatewayError('conflict', { message, shouldRetry: false })
  }
  tell(submission, task)
  if (refusal !== undefined) throw refusalOf(refusal)
  return task
}

function refusalOf({ code, message, param }: NonNullable<VideoTask['refusal']>): GatewayError {
  const shouldRetry = isPassing(new GatewayError(code)) ? undefined : false
  return new GatewayError(code, { message, shouldRetry, param: param ?? undefined })
}

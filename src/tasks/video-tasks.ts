/** The video tasks of a gateway: what the endpoints ask for. */
import { createHash, randomBytes } from 'node:crypto'
import type { Caller } from '../auth/contract.ts'
import { GatewayError } from '../errors.ts'
import { pause } from '../http/deadline.ts'
import type { VideoContent } from '../providers/video.ts'
import type { VideoRequest } from '../wire/video.ts'
import { advance, cancel, lease } from './advance.ts'
import type { TaskListOptions } from './contract.ts'
import { save, workerOf, type TaskParts } from './parts.ts'
import { intentLeaseMs, keepOrFail, submit, unstoredMs } from './submit.ts'
import { Sweeper, type SweeperOptions } from './sweeper.ts'
import { changed, fromRecord, isFinal, toRecord, type StoredTask } from './task.ts'

export interface Submission {
  readonly caller: Caller
  readonly request: VideoRequest
  /** SHA-256 of the request as it came. */
  readonly digest: string
  /** Makes a repetition of the request the same task. At most 255 characters. */
  readonly idempotencyKey?: string | undefined
}

/** How long a client that asks for a task waits for the vendor to be asked, before it gets what is stored. */
const answerMs = 3_000

export class VideoTasks {
  readonly #parts: TaskParts
  readonly #sweeper: Sweeper

  constructor(parts: TaskParts, sweeping: SweeperOptions) {
    this.#parts = parts
    this.#sweeper = new Sweeper(parts, sweeping)
  }

  /** Goes on with tasks of earlier processes and of clients that do not come back. */
  start(): void {
    this.#sweeper.start()
  }

  /** Does what is due now, and resolves when it is done. For hosts that have a timer of their own. */
  sweep(): Promise<void> {
    return this.#sweeper.sweep()
  }

  /** Gives back the leases; tasks under way go on elsewhere, or here after the next start. */
  async close(): Promise<void> {
    await this.#sweeper.stop()
    await this.#parts.store.close?.()
  }

  /** The task of a submission: new, or the one that an earlier submission with the same idempotency key has made. */
  async create(submission: Submission): Promise<StoredTask> {
    const { caller, digest, idempotencyKey } = submission
    const id = idempotencyKey === undefined ? newId() : repeatedId(caller.account, idempotencyKey)
    if (idempotencyKey !== undefined) {
      const present = await this.#parts.store.find(caller.account, id, await this.#parts.now())
      if (present !== undefined) return repetition(fromRecord(present), digest)
    }
    const deployments = await this.#parts.deployments(submission.request.model)
    const first = deployments[0]
    if (first === undefined) {
      throw new GatewayError('unsupported_value', { param: 'model', message: 'This model does not make videos.' })
    }
    const now = await this.#parts.now()
    const intent = this.#intent(submission, id, now, intentLeaseMs(this.#parts, first.video))
    const named: StoredTask = {
      ...intent,
      data: { ...intent.data, provider: first.provider, providerModel: first.model },
    }
    const held = await this.#parts.billing.hold(named, unstoredMs(this.#parts, first.video))
    const paid: StoredTask = { ...named, data: { ...named.data, held } }
    const stored = fromRecord(await this.#parts.store.insert(toRecord(paid)))
    if (stored.data.attempt !== paid.data.attempt) {
      // Two submissions under one key at once: this one is the repetition, and what it held is not needed.
      await this.#parts.billing.end({ ...paid, data: { ...paid.data, state: 'failed' } })
      return repetition(stored, digest)
    }
    this.#sweeper.start()
    this.#parts.publish({ type: 'created', task: stored })
    await keepOrFail(this.#parts, stored)
    return submit(this.#parts, stored, deployments)
  }

  /** The caller's own task, asked about if that is due. Throws `not_found`, in the same words for every reason. */
  async find(account: string, id: string): Promise<StoredTask> {
    const task = await this.#own(account, id)
    if (isFinal(task.data)) return task
    const leased = await lease(this.#parts, task)
    if (leased === undefined) return task
    return soonOr(advance(this.#parts, leased), leased)
  }

  /** The task when it is final, or as it is after `ms`. */
  async wait(task: StoredTask, ms: number, signal: AbortSignal): Promise<StoredTask> {
    const end = (await this.#parts.now()) + ms
    let current = task
    while (!isFinal(current.data) && !signal.aborted) {
      const now = await this.#parts.now()
      if (now >= end) break
      await pause(Math.min(Math.max((current.dueAt ?? now) - now, 50), end - now, 1_000), signal)
      current = await this.find(task.account, task.id)
    }
    return current
  }

  async list(account: string, options: Omit<TaskListOptions, 'now'>): Promise<StoredTask[]> {
    const { store } = this.#parts
    if (store.list === undefined) throw new GatewayError('not_found', { message: 'This server does not list tasks.' })
    return (await store.list(account, { ...options, now: await this.#parts.now() })).map(fromRecord)
  }

  /** The bytes of a finished video, where its provider gives them out; undefined where its URL does. */
  async content(task: StoredTask, signal: AbortSignal, range: string | undefined): Promise<VideoContent | undefined> {
    const deployment = await workerOf(this.#parts, task.data)
    const context = { signal, ...(range !== undefined && { range }) }
    return deployment?.video.content?.(task.data.operation ?? null, context)
  }

  /** Cancels the task if it has not ended, and makes its id unknown. */
  async remove(account: string, id: string): Promise<StoredTask> {
    let task = await this.#own(account, id)
    for (let tries = 0; tries < 5; tries++) {
      if (!isFinal(task.data)) task = await cancel(this.#parts, task, 'cancelled', 'Cancelled by its owner.')
      const saved = await save(this.#parts, changed(task, {}, { expiresAt: await this.#parts.now() }))
      if (saved.won) return saved.task
      task = saved.task
    }
    throw new GatewayError('conflict', { message: 'The task is being worked on. Try again.' })
  }

  async #own(account: string, id: string): Promise<StoredTask> {
    const record = await this.#parts.store.find(account, id, await this.#parts.now())
    if (record === undefined) throw noSuchTask()
    return fromRecord(record)
  }

  #intent({ caller, request, digest }: Submission, id: string, now: number, leaseMs: number): StoredTask {
    const { lifeMs, deadlineMs } = this.#parts.timing
    return {
      account: caller.account,
      id,
      version: 1,
      createdAt: now,
      expiresAt: now + lifeMs,
      dueAt: now + leaseMs,
      leasedUntil: now + leaseMs,
      data: {
        state: 'submitting',
        request,
        digest,
        attempt: randomBytes(12).toString('base64url'),
        group: caller.group,
        ...(caller.key !== undefined && { key: caller.key }),
        deadlineAt: now + Math.min(deadlineMs, lifeMs),
        misses: 0,
        faults: 0,
        settled: false,
      },
    }
  }
}

export function noSuchTask(): GatewayError {
  return new GatewayError('not_found', {
    message: 'No such video task. It does not exist, or its 24 hours are over.',
    param: 'id',
  })
}

/** 192 random bits. */
function newId(): string {
  return `video_${randomBytes(24).toString('base64url')}`
}

/** The same id for the same key of the same account, and no other. */
function repeatedId(account: string, key: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([account, 'videos', key]))
    .digest('base64url')
  return `video_${digest.slice(0, 32)}`
}

function repetition(task: StoredTask, digest: string): StoredTask {
  if (task.data.digest !== digest) {
    const message = 'This Idempotency-Key was used for another request. Use a new key for a new request.'
    throw new GatewayError('conflict', { message, shouldRetry: false })
  }
  const { refusal } = task.data
  if (refusal !== undefined) {
    const { code, message, param } = refusal
    throw new GatewayError(code, { message, shouldRetry: false, ...(param !== null && { param }) })
  }
  return task
}

async function soonOr(step: Promise<StoredTask>, fallback: StoredTask): Promise<StoredTask> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<StoredTask>((resolve) => {
    timer = setTimeout(resolve, answerMs, fallback)
    timer.unref()
  })
  try {
    return await Promise.race([step, late])
  } finally {
    clearTimeout(timer)
    step.catch(() => undefined)
  }
}

/** Tasks in virtual time: a store, a vendor and a ledger that outlive processes, which can crash at any step. */
import { requestId } from '../../src/http/request-id.ts'
import type { TaskRecord, TaskStore } from '../../src/tasks/contract.ts'
import { memoryTaskStore } from '../../src/tasks/memory.ts'
import { defaultTiming, type TaskEvent, type TaskServices } from '../../src/tasks/services.ts'
import { fromRecord } from '../../src/tasks/stored.ts'
import type { StoredTask, VideoTask } from '../../src/tasks/task.ts'
import { VideoTasks } from '../../src/tasks/video-tasks.ts'
import type { VideoProvider, VideoStatus } from '../../src/providers/video.ts'
import { ProviderError, retrySame } from '../../src/providers/failure.ts'

export type Kind = VideoProvider['submit']

export interface Job {
  readonly token: string
  readonly startedAt: number
  cancelled: boolean
}

/** Where a process dies: before its n-th step takes effect, or after that but before it gets the result. */
export interface Crash {
  readonly step: number
  readonly when: 'before' | 'after'
}

export interface WorldOptions {
  readonly kind: Kind
  /** Places for tasks, all of which the store allocates at once. Default 100. */
  readonly count?: number
  /** Status of a job by its age in virtual milliseconds. */
  readonly status?: (age: number, job: Job) => VideoStatus
  /** Called when the vendor receives a submission, before it has answered. */
  readonly submitting?: (token: string) => Promise<void>
  /** Notifies a webhook of the end of a task. */
  readonly push?: (task: StoredTask, now: number) => Promise<void>
}

export interface Hold {
  readonly task: string
  state: 'held' | 'settled' | 'released'
  ends: number
  /** When it expires unless it is settled, released or renewed. */
  until: number
}

export const seconds = 1_000
export const minutes = 60 * seconds
export const hours = 60 * minutes

export class World {
  time = Date.UTC(2030, 0, 1)
  readonly store: TaskStore
  readonly jobs: Job[] = []
  readonly events: TaskEvent[] = []
  readonly holds = new Map<string, Hold>()
  /** Faults of the vendor on the next submissions, in order. Empty: it accepts them. */
  readonly faults: ('rejected' | 'unreachable' | 'accepted without response' | 'no response')[] = []
  polls = 0
  /** True once a vendor was called with less than 5 minutes of the hold left. */
  startedUnheld = false
  readonly #options: WorldOptions
  readonly #seen = new Map<string, StoredTask>()

  constructor(options: WorldOptions) {
    this.#options = options
    this.store = memoryTaskStore({ count: options.count ?? 100 })
  }

  /** A process of this world; it works until it crashes. */
  process(crash?: Crash): { tasks: VideoTasks; sweep: () => Promise<void>; steps: () => number; dead: () => boolean } {
    let step = 0
    let dead = false
    /** Every external effect is one step; only there can a crash make a difference. */
    const effect = async <T>(work: () => Promise<T>): Promise<T> => {
      if (dead) throw new Error('the process is dead')
      step++
      const dying = step === crash?.step
      if (dying && crash.when === 'before') {
        dead = true
        throw new Error('the process died')
      }
      const result = await work()
      if (dying) {
        dead = true
        throw new Error('the process died')
      }
      return result
    }
    const { store } = this
    const { push } = this.#options
    const seen = (task: TaskRecord) =>
      this.#seen.set(`${task.account} ${task.id}`, fromRecord<VideoTask>(structuredClone(task)))
    const steppedStore: TaskStore = {
      insert: (task) =>
        effect(async () => {
          const stored = await store.insert(task)
          seen(stored)
          return stored
        }),
      find: (account, id, now) => effect(() => store.find(account, id, now)),
      replace: (task) =>
        effect(async () => {
          const done = await store.replace(task)
          if (done) seen(task)
          return done
        }),
      claim: (options) =>
        effect(async () => {
          const claimed = await store.claim(options)
          claimed.forEach(seen)
          return claimed
        }),
    }
    const parts: TaskServices = {
      store: steppedStore,
      now: async () => this.time,
      deployments: async () => [{ provider: 'sim', model: 'sim-1', openModel: false, video: this.#vendor(effect) }],
      billing: {
        hold: (task, leaseMs) =>
          effect(async () => {
            const known = this.holds.get(holdOf(task))
            if (known === undefined || known.until <= this.time)
              this.holds.set(holdOf(task), { task: task.id, state: 'held', ends: 0, until: this.time + leaseMs })
            return { held: '1000000' }
          }),
        keep: (task) =>
          effect(async () => {
            const known = this.holds.get(holdOf(task))
            if (known !== undefined && known.until > this.time) known.until = task.data.deadlineAt + 10 * minutes
          }),
        end: (task) => effect(async () => this.#end(task)),
      },
      publish: (event) => {
        if (!dead) this.events.push(event)
      },
      ...(push && { push: (task) => push(task, this.time) }),
      intervalMs: () => 5 * seconds,
      timing: defaultTiming,
    }
    const tasks = new VideoTasks(parts, { everyMs: 1e9, concurrency: 64, perProvider: 64, random: () => 0.5 })
    const sweep = () => tasks.sweep().catch(() => undefined)
    return { tasks, sweep, steps: () => step, dead: () => dead }
  }

  /** The stored task, even if it has expired. */
  stored(account: string, id: string): StoredTask | undefined {
    return this.#seen.get(`${account} ${id}`)
  }

  tasks(): StoredTask[] {
    return [...this.#seen.values()]
  }

  #vendor(effect: <T>(work: () => Promise<T>) => Promise<T>): VideoProvider {
    const { kind, status = defaultStatus, submitting } = this.#options
    const find = (token: string) => this.jobs.find((job) => job.token === token)
    return {
      submit: kind,
      acceptBoundMs: 30 * seconds,
      start: ({ token }) =>
        effect(async () => {
          const fault = this.faults.shift()
          await submitting?.(token)
          if (fault === 'rejected') throw new ProviderError('invalid_request_error', { retry: 'never', begun: false })
          if (fault === 'unreachable') throw new ProviderError('service_unavailable', { retry: 'same', begun: false })
          if (fault === 'no response') throw retrySame(new Error('no response'))
          const known = kind === 'token' ? find(token) : undefined
          const own = [...this.holds.values()].filter(({ task }) => task === token)
          this.startedUnheld ||= own.every(({ until }) => until < this.time + 5 * minutes)
          if (known === undefined) this.jobs.push({ token, startedAt: this.time, cancelled: false })
          if (fault === 'accepted without response') throw retrySame(new Error('no response'))
          return { job: (known === undefined ? this.jobs.length : this.jobs.indexOf(known) + 1) - 1 }
        }),
      ...(kind === 'lookup' && {
        lookup: (token: string) =>
          effect(async () => {
            const job = find(token)
            return job === undefined ? undefined : { job: this.jobs.indexOf(job) }
          }),
      }),
      check: (operation) =>
        effect(async () => {
          this.polls++
          const job = this.jobs[(operation as { job: number }).job] as Job
          return status(this.time - job.startedAt, job)
        }),
      cancel: (operation) =>
        effect(async () => {
          ;(this.jobs[(operation as { job: number }).job] as Job).cancelled = true
        }),
    }
  }

  #end(task: StoredTask): void {
    const hold = this.holds.get(holdOf(task))
    if (hold === undefined || hold.state !== 'held') return
    hold.state = task.data.state === 'completed' || task.data.charged === true ? 'settled' : 'released'
    hold.ends++
  }
}

/** The task's hold id in the ledger. */
export function holdOf(task: StoredTask): string {
  return task.data.attempt
}

function defaultStatus(age: number): VideoStatus {
  if (age < 10 * seconds) return { state: 'pending' }
  if (age < 40 * seconds) return { state: 'processing', progress: Math.min(Math.floor(age / 400), 99) }
  return { state: 'completed', url: 'https://videos.example/1.mp4' }
}

export const caller = { account: 'acme', group: 'default' }

export function submission(key?: string): Parameters<VideoTasks['create']>[0] {
  const request = { model: 'video', prompt: 'a hatch opens', duration: 5 }
  // Whose time stands still while it waits.
  const client = AbortSignal.abort()
  return { id: requestId(), caller, request, digest: 'digest', idempotencyKey: key, client }
}
